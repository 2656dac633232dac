package org.udckpt.cli.classarchive;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * Gives classes that were compiled for Java 5 or older (picocli's) the form of Java 8: the same code, with the stack
 * maps that the newer verifier wants. The JVM takes only such classes into an archive; without it every command would
 * read, verify and link them one by one, which takes as long as all the rest of a short command.
 */
public final class OldClasses {
    private static final int OLDEST_ARCHIVABLE = ClassFile.JAVA_6_VERSION, VERSION_AT = 6, MAGIC = 0xCAFEBABE;
    private static final String MODULE_INFO = "module-info.class";

    private OldClasses() {}

    /** @param arguments a directory of jars, in which those that hold such classes are replaced */
    public static void main(String[] arguments) throws IOException {
        List<Path> jars;
        try (Stream<Path> files = Files.list(Path.of(arguments[0]))) {
            jars = files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
        for (Path jar : jars) {
            renew(jar);
        }
    }

    /** False: nothing in it is old. */
    static boolean renew(Path jar) throws IOException {
        Path renewed = jar.resolveSibling(jar.getFileName() + ".part");
        try (JarFile old = new JarFile(jar.toFile())) {
            if (old.stream().noneMatch(entry -> isOld(old, entry))) {
                return false;
            }
            try (URLClassLoader classes =
                    new URLClassLoader(new URL[]{jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
                    OutputStream file = Files.newOutputStream(renewed);
                    JarOutputStream out = new JarOutputStream(file)) {
                ClassFile tool = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                        ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
                for (Enumeration<JarEntry> entries = old.entries(); entries.hasMoreElements();) {
                    JarEntry entry = entries.nextElement();
                    byte[] bytes = bytes(old, entry);
                    JarEntry copy = new JarEntry(entry.getName());
                    copy.setTimeLocal(entry.getTimeLocal());
                    out.putNextEntry(copy);
                    out.write(isOld(entry, bytes) ? renew(tool, bytes) : bytes);
                }
            }
        }
        Files.move(renewed, jar, StandardCopyOption.ATOMIC_MOVE);
        return true;
    }

    private static byte[] renew(ClassFile tool, byte[] old) {
        ClassModel model = tool.parse(old);
        ClassTransform version = (builder, element) -> {
            if (element instanceof ClassFileVersion) {
                builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
            } else {
                builder.with(element);
            }
        };
        // Code that is passed through element by element is written anew, with stack maps.
        return tool.transformClass(model, version.andThen(ClassTransform.transformingMethodBodies(
                CodeTransform.ofStateful(() -> (builder, element) -> builder.with(element)))));
    }

    private static boolean isOld(JarFile jar, JarEntry entry) {
        try {
            return isOld(entry, bytes(jar, entry));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(jar.getName() + ": " + entry, e);
        }
    }

    private static boolean isOld(JarEntry entry, byte[] bytes) {
        return entry.getName().endsWith(".class") && !entry.getName().endsWith(MODULE_INFO)
                && bytes.length > VERSION_AT + 1
                && ByteBuffer.wrap(bytes).getInt() == MAGIC
                && ByteBuffer.wrap(bytes).getShort(VERSION_AT) < OLDEST_ARCHIVABLE;
    }

    private static byte[] bytes(JarFile jar, JarEntry entry) throws IOException {
        try (var in = jar.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }
}
