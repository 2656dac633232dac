package org.udckpt.cli.classarchive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class DynamicCallsTest {
    private static final ClassFile TOOL = ArchivableJars.tool(DynamicCallsTest.class.getClassLoader());
    private static final List<Class<?>> CLASSES = List.of(Shape.class, Circle.class, Line.class, Nothing.class,
            All.class, Chooser.class, Probe.class);

    @TempDir
    Path directory;

    sealed interface Shape permits Circle, Line, Nothing {
        /** In an interface: its methods are called otherwise. */
        static String of(Shape shape) {
            return switch (shape) {
                case Circle _ -> "circle";
                case Line _ -> "line";
                case Nothing _ -> "nothing";
            };
        }
    }

    record Circle(int radius) implements Shape {}

    record Line(Circle from, Circle to) implements Shape {}

    record Nothing() implements Shape {}

    record All(boolean a, byte b, char c, short d, int e, long f, float g, double h, String i, int[] j) {}

    static final class Chooser {
        static String name(Object object) {
            return switch (object) {
                case null -> "null";
                case Circle circle when circle.radius() > 100 -> "large";
                case Circle(int radius) when radius == 0 -> "dot";
                case Circle circle -> "circle of " + circle.radius();
                case Line(Circle from, Circle _) -> "line from " + name(from);
                case CharSequence text -> "text " + text.length();
                case int[] numbers -> "numbers " + numbers.length;
                default -> "other";
            };
        }

        static String ofText(String text) {
            return switch (text) {
                case String all when all.isEmpty() -> "empty";
                case "a" -> "A";
                default -> text;
            };
        }
    }

    /** Says the same in both forms. */
    public static final class Probe implements Supplier<List<Object>> {
        @Override
        public List<Object> get() {
            List<Object> said = new ArrayList<>();
            for (Object object : new Object[]{null, new Circle(101), new Circle(0), new Circle(7),
                    new Line(new Circle(1), null), new Line(null, null), "four", new int[3], 4L}) {
                said.add(Chooser.name(object));
            }
            said.add(Chooser.ofText("") + Chooser.ofText("a") + Chooser.ofText("b"));
            for (Shape shape : List.of(new Circle(1), new Line(null, null), new Nothing())) {
                said.add(Shape.of(shape));
                said.add(shape.hashCode());
                said.add(shape.equals(shape));
                said.add(shape.equals(null));
                said.add(shape.equals("text"));
            }
            said.add(new Nothing().equals(new Nothing()));
            said.add(assertThrows(NullPointerException.class, () -> Shape.of(null)).getClass());
            int[] numbers = {1};
            List<All> all = new ArrayList<>();
            for (float g : new float[]{0f, -0f, Float.NaN, 1.5f}) {
                for (double h : new double[]{0, -0.0, Double.NaN, 1e300}) {
                    all.add(new All(true, (byte) -3, 'x', (short) 300, -5, 1L << 40, g, h, null, numbers));
                }
            }
            all.add(new All(false, (byte) -3, 'x', (short) 300, -5, 1L << 40, 0f, 0, "text", numbers));
            all.add(new All(false, (byte) -3, 'x', (short) 300, -5, 1L << 40, 0f, 0, new String("text"), numbers));
            all.add(new All(false, (byte) -3, 'x', (short) 300, -5, 1L << 40, 0f, 0, "text", null));
            for (All one : all) {
                said.add(one.j() == null ? one.hashCode() : one.hashCode() - numbers.hashCode()); // by its place
                for (All other : all) {
                    said.add(one.equals(other));
                }
            }
            return said;
        }
    }

    @Test
    void whatIsReplacedSaysTheSame() throws Exception {
        Loader loader = new Loader();
        for (Class<?> each : CLASSES) {
            byte[] bytes = bytes(each), replaced = DynamicCalls.replace(TOOL, bytes);
            loader.classes.add(each.getName());
            loader.bytes.add(replaced == null ? bytes : replaced);
            Set<String> left = dynamic(replaced == null ? bytes : replaced);
            left.removeAll(Set.of("makeConcatWithConstants", "metafactory", "toString"));
            assertEquals(Set.of(), left, each.getName());
            assertEquals(each != Probe.class, replaced != null, each.getName());
        }
        Object replaced = loader.loadClass(Probe.class.getName()).getConstructor().newInstance();
        assertFalse(replaced instanceof Probe);
        assertEquals(new Probe().get(), ((Supplier<?>) replaced).get());
    }

    @Test
    void aJarIsReplacedOnce() throws Exception {
        Path jar = directory.resolve("udckpt-some.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("some.txt"));
            out.write("text".getBytes());
            out.putNextEntry(new JarEntry(Chooser.class.getName().replace('.', '/') + ".class"));
            out.write(bytes(Chooser.class));
        }
        assertTrue(DynamicCalls.replace(jar, TOOL));
        byte[] once = Files.readAllBytes(jar);
        assertFalse(DynamicCalls.replace(jar, TOOL));
        assertEquals(List.of(jar), Files.list(directory).toList());
        assertEquals(once.length, Files.size(jar));
        assertNull(DynamicCalls.replace(TOOL, bytes(Probe.class)));
    }

    /** What links its dynamic calls, or the name where one linker makes several. */
    private static Set<String> dynamic(byte[] bytes) {
        Set<String> names = new TreeSet<>();
        TOOL.parse(bytes).methods().stream().flatMap(method -> method.code().stream())
                .flatMap(CodeModel::elementStream).forEach(element -> {
                    if (element instanceof InvokeDynamicInstruction call) {
                        String linker = call.bootstrapMethod().methodName();
                        names.add(linker.equals("bootstrap") ? call.name().stringValue() : linker);
                    }
                });
        return names;
    }

    private static byte[] bytes(Class<?> of) throws IOException {
        try (InputStream in = of.getResourceAsStream("/" + of.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    /** Has the replaced ones; a nest is of one loader, so all of it. */
    private static final class Loader extends ClassLoader {
        private final List<String> classes = new ArrayList<>();
        private final List<byte[]> bytes = new ArrayList<>();

        private Loader() {
            super(DynamicCallsTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            int at = classes.indexOf(name);
            if (at < 0) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : defineClass(name, bytes.get(at), 0, bytes.get(at).length);
        }
    }
}
