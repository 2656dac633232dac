package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** All modules and packages have one order. A package depends only on packages before it, so there are no cycles. */
class PackageOrderTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final String PREFIX = "org.udckpt.";

    /** Each module with its packages, lowest first. */
    private static final List<String> ORDER = List.of(
            "native: layout",
            "linux: linux",
            "image-writer: image image.table image.storage image.key image.block image.manifest image.directory "
                    + "image.write"
                    + " image.read image.catalogue",
            "address-map: address",
            "ud-virt: ud ud.disni",
            "rc-virt:",
            "process-image: process.huge process.model process.cuda process.names process.files process.trace"
                    + " process.tracking"
                    + " process.identity process.kinds.base process.kinds.aio process.kinds.cgroup"
                    + " process.kinds.deleted"
                    + " process.kinds.epoll"
                    + " process.kinds.eventfd process.kinds.file process.kinds.inotify process.kinds.iouring"
                    + " process.kinds.ipc process.kinds.mqueue"
                    + " process.kinds.lock process.kinds.memory process.kinds.named process.kinds.namespace"
                    + " process.kinds.mount process.kinds.pidfd process.kinds.pipe"
                    + " process.kinds.refused process.kinds.seccomp process.kinds.signal process.kinds.signalfd"
                    + " process.kinds.socket process.kinds.filter process.kinds.binaryoption process.kinds.raw"
                    + " process.kinds.packet"
                    + " process.kinds.replaced process.kinds.netlink process.kinds.tcp"
                    + " process.kinds.terminal process.kinds.thread process.kinds.timerfd process.kinds.udp"
                    + " process.kinds.unix"
                    + " process.kinds process.check process.restore.lazy"
                    + " process.tree process.capture process.inherit process.restore",
            "support: support.report support.config support.runtime",
            "coordination: coordination.tree coordination.lookup coordination.protocol",
            "transport: transport",
            "launch: launch launch.pmi launch.slurm",
            "cluster: cluster cluster.status",
            "agent: agent.command agent",
            "store: store store.tiers",
            "inspect: inspect.core inspect.debug inspect.check inspect.plan inspect.view inspect.diff",
            "lifecycle: lifecycle.interval lifecycle.metrics lifecycle.checkpoint lifecycle.job lifecycle.restart"
                    + " lifecycle.unit lifecycle.lead lifecycle",
            "cli: cli.batch cli.bisect cli cli.classarchive",
            "bench: bench.command bench.link bench.measured bench.plot bench.model bench.report bench.scale "
                    + "bench.workload"
                    + " bench.job bench.application bench.image bench.micro bench.run bench",
            "system-test:");

    /** Packages that may depend only on these packages of their own module (and on all modules before). */
    private static final Map<String, Set<String>> ONLY = Map.of(
            "image.table", Set.of("image"),
            "image.storage", Set.of("image"),
            "image.key", Set.of("image"),
            "image.block", Set.of("image", "image.key"),
            "image.manifest", Set.of("image", "image.storage", "image.key"),
            "image.directory", Set.of("image", "image.storage", "image.key", "image.manifest"),
            "image.write", Set.of("image", "image.table", "image.storage", "image.key", "image.block", "image.manifest",
                    "image.directory"),
            "image.read", Set.of("image", "image.table", "image.storage", "image.key", "image.block", "image.manifest"),
            "image.catalogue", Set.of("image", "image.storage", "image.key", "image.manifest", "image.directory",
                    "image.read"));

    private static final Pattern PACKAGE = Pattern.compile("(?m)^package org\\.udckpt\\.([\\w.]+);");
    private static final Pattern TYPE = Pattern.compile("\\borg\\.udckpt\\.([a-z]\\w*(?:\\.[a-z]\\w*)*)\\.[A-Z]");
    /** Comments and string literals may name packages that come later. */
    private static final Pattern NOT_CODE =
            Pattern.compile("/\\*(?s:.*?)\\*/|//[^\\n]*|\"\"\"(?s:.*?)\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"");

    /** For each package: the packages that its sources name, with the files that name them. */
    private final Map<String, Map<String, Set<String>>> uses = new TreeMap<>();
    private final Map<String, String> modules = new HashMap<>();

    PackageOrderTest() throws IOException {
        for (String module : order().keySet()) {
            for (String sources : List.of("src/main/java", "target/generated-sources/layout")) {
                read(module, ROOT.resolve(module).resolve(sources));
            }
        }
    }

    private static Map<String, List<String>> order() {
        Map<String, List<String>> order = new LinkedHashMap<>();
        for (String line : ORDER) {
            String[] parts = line.split(":", 2);
            order.put(parts[0], Stream.of(parts[1].split(" ")).filter(name -> !name.isEmpty()).toList());
        }
        return order;
    }

    private void read(String module, Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory).filter(path -> path.toString().endsWith(".java"))) {
            for (Path file : files.toList()) {
                String code = NOT_CODE.matcher(Files.readString(file)).replaceAll(" ");
                var declared = PACKAGE.matcher(code);
                assertTrue(declared.find(), file + " is in no package org.udckpt");
                String name = declared.group(1);
                modules.put(name, module);
                Map<String, Set<String>> known = uses.computeIfAbsent(name, _ -> new TreeMap<>());
                TYPE.matcher(code).results().map(type -> type.group(1)).filter(other -> !other.equals(name))
                        .forEach(other -> known.computeIfAbsent(other, _ -> new TreeSet<>())
                                .add(file.getFileName().toString()));
            }
        }
    }

    @Test
    void eachModuleOfTheBuildIsInTheOrder() throws IOException {
        List<String> built =
                Pattern.compile("<module>([\\w-]+)</module>").matcher(Files.readString(ROOT.resolve("pom.xml")))
                        .results().map(module -> module.group(1)).toList();
        assertEquals(List.copyOf(order().keySet()), built, "the same order in pom.xml");
    }

    @Test
    void eachPackageIsInTheOrderOfItsModule() {
        Map<String, String> listed = new TreeMap<>();
        order().forEach((module, names) -> names.forEach(name -> listed.put(name, module)));
        assertEquals(listed, new TreeMap<>(modules));
    }

    @Test
    void aPackageKnowsOnlyThoseBeforeIt() {
        List<String> wrong = new ArrayList<>();
        Set<String> before = new TreeSet<>();
        for (String name : order().values().stream().flatMap(List::stream).toList()) {
            Set<String> only = ONLY.get(name);
            uses.get(name).forEach((other, files) -> {
                boolean inside = modules.get(name).equals(modules.get(other));
                if (!before.contains(other) || only != null && inside && !only.contains(other)) {
                    wrong.add(PREFIX + name + " uses " + PREFIX + other + ": " + files);
                }
            });
            before.add(name);
        }
        assertEquals(List.of(), wrong);
    }
}
