package org.udckpt.bench.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.udckpt.bench.job.SessionGroups;
import org.udckpt.bench.measured.Row;
import org.udckpt.linux.Proc;

/** What results depend on, as far as the machine says it of itself; its name is not in it. */
final class MachineFacts {
    private static final List<String> PACKAGES =
            List.of("libmpich12", "openmpi-bin", "libucx0", "libibverbs1", "libc6");
    private final List<Row> facts = new ArrayList<>();

    private MachineFacts() {}

    /**
     * @param root of the clone
     * @param directory on the disk that images are written to
     * @param device that is used; empty: the soft fabric
     * @param command that was given
     */
    static List<Row> of(Path root, Path directory, Optional<String> device, String command) throws IOException {
        MachineFacts facts = new MachineFacts();
        facts.add("command", command);
        facts.add("begun", now());
        facts.add("udckpt", version(root));
        facts.add("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch"));
        facts.add("processor", line("/proc/cpuinfo", "model name"));
        facts.add("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.add("memory", line("/proc/meminfo", "MemTotal"));
        FileStore store = Files.getFileStore(directory);
        facts.add("disk", store.type() + ", " + (store.getTotalSpace() >> 30) + " GiB, "
                + (store.getUsableSpace() >> 30) + " GiB free");
        facts.add("device", device.orElse("soft fabric"));
        for (String name : PACKAGES) {
            facts.add(name, said(root, "dpkg-query", "-W", "-f=${Version}", name));
        }
        facts.add("java", Runtime.version().toString());
        facts.add("sessions are groups of the scheduler",
                !SessionGroups.are() ? "no" : SessionGroups.canChange() ? "until the first measurement" : "yes");
        facts.add("load at the start", Proc.text("/proc/loadavg").strip());
        return facts.facts;
    }

    /** When, and by which version, a run that was interrupted goes on. */
    static Row resumed(Path root) {
        return new Row.Fact("resumed", now() + " by " + version(root));
    }

    static Row ended() {
        return new Row.Fact("ended", now());
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static String version(Path root) {
        return said(root, "git", "describe", "--always", "--dirty");
    }

    private void add(String name, String value) {
        facts.add(new Row.Fact(name, value));
    }

    private static String line(String file, String key) {
        for (String line : Proc.text(file).lines().toList()) {
            if (line.startsWith(key)) {
                return line.substring(line.indexOf(':') + 1).strip();
            }
        }
        return "not known";
    }

    /** The output of a command that may not be there. */
    private static String said(Path directory, String... words) {
        try {
            Process process = new ProcessBuilder(words).directory(directory.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            try (BufferedReader reader = process.inputReader()) {
                String text = reader.lines().collect(Collectors.joining(" "));
                return text.isEmpty() ? "not known" : text;
            }
        } catch (IOException e) {
            return "not known";
        }
    }
}
