package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.Proc;

/** Who has moved to another control group is refused by name, and taken again when it has moved back. */
@Timeout(120)
class CgroupCheckTest {
    private static final Path ALL = Path.of("/sys/fs/cgroup");
    private static final String NAME = "udckpt-test-group-" + ProcessHandle.current().pid();

    private Path hierarchy;
    private Path group;

    @BeforeEach
    void makeGroup() throws IOException {
        hierarchy = hierarchy();
        assumeTrue(hierarchy != null, "no control groups below " + ALL + " in which one can be made");
        group = Files.createDirectory(hierarchy.resolve(NAME));
    }

    @AfterEach
    void removeGroup() throws IOException, InterruptedException {
        if (group == null) {
            return;
        }
        for (int round = 0; round < 1000 && !Files.readString(group.resolve("cgroup.procs")).isEmpty(); round++) {
            Thread.sleep(5); // its last process is on its way out
        }
        Files.delete(group);
    }

    /** Of version 1, in which threads can be apart, rather than of version 2. */
    private static Path hierarchy() throws IOException {
        if (!Files.isDirectory(ALL)) {
            return null;
        }
        try (Stream<Path> below = Files.list(ALL)) {
            return Stream.concat(Stream.of("freezer", "pids").map(ALL::resolve), Stream.concat(below, Stream.of(ALL)))
                    .filter(one -> Files.isWritable(one.resolve("cgroup.procs")) && Files.isWritable(one)
                            && ("freezer pids".contains(one.getFileName().toString()) || one.equals(ALL)))
                    .findFirst().orElse(null);
        }
    }

    @Test
    void wholeProcess() throws Exception {
        try (Target target = Target.ofShepherd("deleted_directory")) {
            refusedWhileMoved(target, target.pid, "cgroup.procs", "it is in the control group ");
        }
    }

    @Test
    void child() throws Exception {
        try (Target target = Target.ofShepherd("deleted_directory")) {
            List<Integer> processes = target.lasting();
            int child = processes.stream().filter(pid -> pid != target.pid).findFirst().orElseThrow();
            CaptureRefused refused =
                    refusedWhileMoved(target, child, "cgroup.procs", "it is in the control group ");
            assertEquals(child, refused.pid());
        }
    }

    @Test
    void threadAlone() throws Exception {
        assumeTrue(Files.isWritable(hierarchy.resolve("tasks")), "version 2: threads stay with their process");
        try (Target target = Target.ofShepherd("threads")) {
            int second = Proc.threads(target.pid)[1]; // the last ones may end meanwhile
            refusedWhileMoved(target, second, "tasks", "thread " + second + " is in the control group ");
        }
    }

    /** The group of the hierarchy in which a process is. */
    private Path home(int pid) {
        String name = hierarchy.equals(ALL) ? "::" : ":" + hierarchy.getFileName() + ":";
        String line = Proc.text("/proc/" + pid + "/cgroup").lines().filter(one -> one.contains(name)).findFirst()
                .orElseThrow();
        return hierarchy.resolve(line.substring(line.indexOf(name) + name.length() + 1));
    }

    private CaptureRefused refusedWhileMoved(Target target, int who, String file, String says) throws Exception {
        Path home = home(target.pid);
        Capture.take(target.request()).close();
        Files.writeString(group.resolve(file), Integer.toString(who));
        CaptureRefused refused = assertThrows(CaptureRefused.class, () -> Capture.take(target.request()).close());
        String message = refused.getMessage();
        assertTrue(message.contains(says) && message.contains("/" + NAME + ", but its rank was started in /")
                && message.contains("cgroup.procs"), message);
        Files.writeString(home.resolve(file), Integer.toString(who));
        Capture.take(target.request()).close();
        assertEquals("PASS", target.verdict().split(" ")[0]);
        return refused;
    }
}
