package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A tree whose number of processes is limited is forked in part or not at all: it goes on as it was, and can be
 * captured when there is room.
 */
@Timeout(120)
class ForkFailureTest {
    private static final Path PIDS = Path.of("/sys/fs/cgroup/pids");

    @Test
    void noRoomForTheLastOnes() throws Exception {
        assumeTrue(Files.isWritable(PIDS), "no pids controller (cgroups v1) that is ours at " + PIDS);
        Path group = PIDS.resolve("udckpt-test-" + ProcessHandle.current().pid());
        try (Target target = Target.ofShepherd("session_pgrp")) {
            List<Integer> processes = target.lasting();
            assertTrue(processes.size() > 1, processes::toString);
            int enough = 2 * processes.size(); // a short-lived one and a snapshot for each
            Files.createDirectory(group);
            Files.writeString(group.resolve("cgroup.procs"), Integer.toString(target.shepherd));
            for (int pid : processes) {
                Files.writeString(group.resolve("cgroup.procs"), Integer.toString(pid));
            }
            for (int room = 0; room < enough; room++) {
                limit(group, Integer.toString(tasks(group) + room));
                String message =
                        assertThrows(CaptureFailed.class, () -> Capture.take(target.request()), "room for " + room)
                                .getMessage();
                assertTrue(message.contains("EAGAIN"), message);
                assertEquals(processes, target.lasting(), "nothing is left of it");
            }
            limit(group, Integer.toString(tasks(group) + enough));
            Capture.take(target.request()).close();
            assertEquals("PASS", target.verdict().split(" ")[0]);
        } finally {
            if (Files.exists(group)) {
                remove(group);
            }
        }
    }

    private static void limit(Path group, String most) throws IOException {
        Files.writeString(group.resolve("pids.max"), most);
    }

    private static int tasks(Path group) throws IOException {
        return Integer.parseInt(Files.readString(group.resolve("pids.current")).strip());
    }

    /** As soon as its last process is gone. */
    private static void remove(Path group) throws IOException, InterruptedException {
        for (int round = 0; round < 1000 && tasks(group) > 0; round++) {
            Thread.sleep(5);
        }
        Files.delete(group);
    }
}
