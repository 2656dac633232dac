package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * What reads bytes or text has a fuzz target ({@code org.udckpt.fuzz.Fuzzes}), or stands here with the reason why it
 * needs none.
 */
class FuzzCoverageTest {
    private static final Pattern NAMES = Pattern.compile("(decode|parse|read|received)([A-Z]\\w*)?");
    private static final Set<String> TEXTS = Set.of("[B", "Ljava/lang/String;", "Ljava/nio/ByteBuffer;",
            "Ljava/io/InputStream;", "Lcom/fasterxml/jackson/databind/JsonNode;",
            "Lorg/apache/arrow/vector/VectorSchemaRoot;", "Lorg/apache/arrow/flight/FlightStream;",
            "Ljava/nio/channels/ByteChannel;", "Ljava/nio/channels/SocketChannel;");
    private static final Set<String> LIBRARIES = Set.of("com/fasterxml/jackson/databind/ObjectMapper.readTree",
            "com/fasterxml/jackson/databind/ObjectMapper.readValue",
            "java/util/Properties.load");

    /** All that has parsers; bench reads what it has written itself. */
    private static final List<String> MODULES =
            List.of("linux", "address-map", "ud-virt", "image-writer", "process-image", "support", "coordination",
                    "transport", "launch", "cluster", "agent", "store", "inspect", "lifecycle", "cli");
    private static final Map<String, String> NEED_NONE = Map.ofEntries(
            Map.entry("CodedText", "two words that a pattern takes apart"),
            Map.entry("CopiedMessages", "what udckpt-shepherd has written"),
            Map.entry("EncryptionSecret", "what the user's own file or command says"),
            Map.entry("Files", "system calls"),
            Map.entry("FirstPages", "bytes of memory, which mean nothing here"),
            Map.entry("Folder", "system calls"),
            Map.entry("Gid", "sixteen bytes, whatever they are"),
            Map.entry("KnownFiles", "files' digests, whatever is in them; ElfNotesFuzz has their notes"),
            Map.entry("LocalInput", "fills a buffer from a file"),
            Map.entry("LostLead", "the lead's own guard says it, in the environment"),
            Map.entry("Mapping", "the kernel's text, in which names are escaped"),
            Map.entry("MappingFlags", "the kernel's text"),
            Map.entry("MountLine", "the kernel's text, in which names are escaped"),
            Map.entry("Moves", "the user's own option"),
            Map.entry("NodeAgent", "ControlMessageFuzz has what it reads by"),
            Map.entry("NodeLoop", "passes on what NodeFuzz and ControlMessageFuzz have"),
            Map.entry("TreeListener", "an interface: NodeProtocol"),
            Map.entry("ReceivedTable", "batches of Arrow Flight: LinkFuzzTest damages them on their way"),
            Map.entry("Rendezvous", "ControlMessageFuzz has what it reads by"),
            Map.entry("SecretFile", "the user's own key file, whose bytes are compared or derived from"),
            Map.entry("StandardInput", "passes on bytes of the user's"),
            Map.entry("Starter", "the user's own option"),
            Map.entry("StorageIo", "an interface: LocalInput"),
            Map.entry("UnitOrder", "one word before what PartOrderFuzz has"),
            Map.entry("UserfaultEvent", "the kernel's record"));

    @Test
    void eachParserHasATarget() throws IOException {
        Path root = Path.of(System.getProperty("udckpt.root"));
        Set<String> fuzzed = fuzzed(root);
        Set<String> parsers = parsers(root);
        Set<String> without = new TreeSet<>(parsers);
        without.removeAll(fuzzed);
        without.removeAll(NEED_NONE.keySet());
        assertEquals(Set.of(), without,
                "classes that read what others may have written, without a fuzz target (docs/contributing/testing.md)");
        Set<String> needless = new TreeSet<>(NEED_NONE.keySet());
        needless.removeIf(name -> parsers.contains(name) && !fuzzed.contains(name));
        assertEquals(Set.of(), needless, "reasons for classes that have a target, or read nothing");
    }

    private static Set<String> parsers(Path root) throws IOException {
        Set<String> names = new TreeSet<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(root.resolve(module).resolve("target/classes/org/udckpt"))
                    .filter(file -> file.toString().endsWith(".class"))) {
                for (Path file : files.toList()) {
                    if (reads(ClassFile.of().parse(file))) {
                        names.add(file.getFileName().toString().replaceAll("(\\$.*)?[.]class", ""));
                    }
                }
            }
        }
        return names;
    }

    private static boolean reads(ClassModel one) {
        return one.methods().stream().anyMatch(FuzzCoverageTest::reads) || StreamSupport
                .stream(one.constantPool().spliterator(), false)
                .anyMatch(entry -> entry instanceof MethodRefEntry called
                        && LIBRARIES.contains(called.owner().asInternalName() + "." + called.name().stringValue()));
    }

    private static boolean reads(MethodModel method) {
        return NAMES.matcher(method.methodName().stringValue()).matches()
                && method.methodTypeSymbol().parameterList().stream()
                        .anyMatch(type -> TEXTS.contains(type.descriptorString()));
    }

    /** From the sources, since not all modules' tests are on one class path. */
    private static Set<String> fuzzed(Path root) throws IOException {
        Pattern annotation = Pattern.compile("@Fuzzes\\(([^)]*)\\)");
        Pattern name = Pattern.compile("(\\w+)\\.class");
        Set<String> names = new TreeSet<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src/test/java"))
                    .filter(file -> file.toString().endsWith("Fuzz.java"))) {
                for (Path file : files.toList()) {
                    annotation.matcher(Files.readString(file)).results()
                            .flatMap(found -> name.matcher(found.group(1)).results())
                            .forEach(found -> names.add(found.group(1)));
                }
            }
        }
        return names;
    }
}
