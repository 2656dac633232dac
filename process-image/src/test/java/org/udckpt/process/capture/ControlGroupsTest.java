package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.udckpt.process.kinds.cgroup.ControlGroup;
import org.udckpt.process.kinds.cgroup.ControlGroupFile;
import org.udckpt.process.kinds.cgroup.ControlGroupMember;
import org.udckpt.process.model.KernelObject;

/** Who is in another control group than the rank was started in is in the image, with the group. */
@Timeout(120)
class ControlGroupsTest {
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
            List<ControlGroupMember> members = membersWhileMoved(target, target.pid, "cgroup.procs");
            assertTrue(members.stream().anyMatch(one -> one.pid() == target.pid && one.tid() == one.pid()),
                    members::toString);
        }
    }

    @Test
    void child() throws Exception {
        try (Target target = Target.ofShepherd("deleted_directory")) {
            int child = target.lasting().stream().filter(pid -> pid != target.pid).findFirst().orElseThrow();
            List<ControlGroupMember> members = membersWhileMoved(target, child, "cgroup.procs");
            assertEquals(List.of(child), members.stream().map(ControlGroupMember::pid).toList());
        }
    }

    @Test
    void threadAlone() throws Exception {
        assumeTrue(Files.isWritable(hierarchy.resolve("tasks")), "version 2: threads stay with their process");
        try (Target target = Target.ofShepherd("threads")) {
            int second = Proc.threads(target.pid)[1]; // the last ones may end meanwhile
            List<ControlGroupMember> members = membersWhileMoved(target, second, "tasks");
            assertEquals(List.of(second), members.stream().map(ControlGroupMember::tid).toList());
        }
    }

    /** The group of the hierarchy in which a process is. */
    private Path home(int pid) {
        String name = hierarchy.equals(ALL) ? "::" : ":" + hierarchy.getFileName() + ":";
        String line = Proc.text("/proc/" + pid + "/cgroup").lines().filter(one -> one.contains(name)).findFirst()
                .orElseThrow();
        return hierarchy.resolve(line.substring(line.indexOf(name) + name.length() + 1));
    }

    private List<ControlGroupMember> membersWhileMoved(Target target, int who, String file) throws Exception {
        Path home = home(target.pid);
        assertEquals(List.of(), objects(target, ControlGroup.class));
        Files.writeString(group.resolve(file), Integer.toString(who));
        Files.createDirectory(group.resolve("below"));
        List<KernelObject> all;
        try (Capture capture = Capture.take(target.request())) {
            all = capture.image().objects();
        } finally {
            Files.delete(group.resolve("below"));
        }
        List<ControlGroup> groups = of(all, ControlGroup.class);
        assertEquals(List.of("/" + NAME, "/" + NAME + "/below"), groups.stream()
                .map(one -> one.path().substring(one.path().indexOf("/" + NAME))).sorted().toList());
        assertTrue(groups.stream().allMatch(ControlGroup::own), groups::toString);
        List<ControlGroupFile> files = of(all, ControlGroupFile.class);
        assertTrue(files.stream().anyMatch(one -> one.file().equals("cgroup.procs") && one.value().length == 0),
                files::toString);
        Files.writeString(home.resolve(file), Integer.toString(who));
        assertEquals(List.of(), objects(target, ControlGroupMember.class));
        assertEquals("PASS", target.verdict().split(" ")[0]);
        return of(all, ControlGroupMember.class);
    }

    private static <T> List<T> objects(Target target, Class<T> type) {
        try (Capture capture = Capture.take(target.request())) {
            return of(capture.image().objects(), type);
        }
    }

    private static <T> List<T> of(List<KernelObject> all, Class<T> type) {
        return all.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
