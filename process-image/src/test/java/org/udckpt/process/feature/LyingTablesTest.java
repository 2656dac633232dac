package org.udckpt.process.feature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.process.check.ImageCheck;
import org.udckpt.process.files.FilesChanged;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.restore.RestoreException;
import org.udckpt.process.trace.TraceeGone;

/**
 * Images of real programs whose tables lie in each column in turn: a writer gone wrong, or who has the key. What cannot
 * be is refused by table and row; what could be is restored, or refused by an error with a name. Nothing hangs, and
 * nothing is left.
 */
@Tag("slow")
@Timeout(300)
class LyingTablesTest {
    /** A tree with sessions, sockets with bytes in them, shared memory, timers, a terminal: most tables have rows. */
    private static final List<String> PROGRAMS =
            List.of("session_pgrp", "socketpair_data", "tcp_socket", "pty", "posix_timer", "pipe_data", "shared_memory",
                    "file_locks", "zombie", "zombie_ends", "epoll", "guard_pages", "credentials", "signal_io",
                    "file_offset", "task_attributes", "gone_names", "datagram_halves",
                    "scm_rights", "scm_credentials", "unix_waiting", "unix_waiting_messages", "sender_names",
                    "deleted_directory", "deleted_links", "other_name",
                    "socket_filters", "sysv_sem", "sysv_msg", "sysv_undo", "inotify_names", "udp_states", "udp_unsent",
                    "ping_sockets",
                    "posix_queues", "removed_node",
                    "ip_level", "raw_sockets", "packet_sockets", "netlink_peers", "ended_owner",
                    "namespace_files", "seccomp", "root_directory", "mount_namespace", "mount_trees",
                    "shared_tables", "one_memory", "thread_directories", "thread_descriptors",
                    "nameless_handles", "io_uring", "io_uring_files", "io_uring_opens", "aio", "user_namespaces",
                    "time_namespaces",
                    "ipc_namespaces",
                    "pid_namespace", "nested_pid_namespaces", "mapped_before", "gone_mounts", "tcp_errors",
                    "tcp_calling",
                    "mount_sockets", "fanotify", "network_namespace", "overlay_mounts");
    private static final int RESTORED = Integer.getInteger("udckpt.lies", 40);
    private static final Path NOWHERE = Path.of("/nowhere");
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    Path directory;
    private final Installation installation = Installation.built();
    private final Random random = new Random();
    private final List<Integer> pids = new ArrayList<>();
    private int restarts;

    private record Survivor(SavedJob saved, LyingTables.Lie lie) {}

    @Test
    void whatCannotBeIsRefusedAndWhatCouldBeHarmsNobody() throws Exception {
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        System.out.println("LyingTablesTest: seed " + seed + " (repeat with -Dudckpt.seed=" + seed + ")");
        random.setSeed(seed);
        List<SavedJob> jobs = new ArrayList<>();
        boolean nowhere = Files.exists(NOWHERE);
        try {
            List<Survivor> survivors = new ArrayList<>();
            int refused = 0;
            for (String program : PROGRAMS) {
                SavedJob saved = captured(program);
                jobs.add(saved);
                for (LyingTables.Lie lie : new LyingTables(saved.image(), random).everyColumn()) {
                    if (isRefused(saved, lie)) {
                        refused++;
                    } else {
                        survivors.add(new Survivor(saved, lie));
                    }
                }
            }
            System.out.println("LyingTablesTest: " + refused + " lies refused, " + survivors.size() + " could be so");
            assertTrue(refused > survivors.size() / 2 && refused > 500,
                    refused + " of " + (refused + survivors.size()));
            Collections.shuffle(survivors, random);
            for (Survivor survivor : survivors.subList(0, Math.min(RESTORED, survivors.size()))) {
                restore(survivor);
            }
        } finally {
            jobs.forEach(SavedJob::close);
            for (int pid : pids) {
                Leftovers.removeSharedMemory(pid);
            }
            if (!nowhere) {
                // files of lying tables are put there
                new ProcessBuilder("rm", "-rf", NOWHERE.toString()).start().waitFor();
            }
        }
    }

    private static boolean isRefused(SavedJob saved, LyingTables.Lie lie) {
        try {
            ImageCheck.check(lie.image());
            ImageCheck.check(lie.image(), saved.memory());
            return false;
        } catch (BrokenTable broken) {
            assertTrue(broken.getMessage().matches("(?s)row \\d+: .+") && broken.getMessage().length() < 400,
                    broken.getMessage());
            assertFalse(broken.table().isEmpty());
            return true;
        } catch (RuntimeException e) {
            throw new AssertionError(lie.lie() + ": " + e, e);
        }
    }

    private SavedJob captured(String program) throws Exception {
        Path work = Files.createDirectory(directory.resolve(program));
        int pid = 0;
        try (ShepherdProcess shepherd = new ShepherdProcess(installation.shepherd(), directory.resolve("s-" + program),
                directory.resolve("output"))) {
            pid = shepherd.spawn(directory.resolve("spec"), work,
                    List.of(installation.program(program).toString(), work.toString()), installation.environment());
            pids.add(pid);
            while (!Files.exists(work.resolve("ready"))) {
                assertFalse(shepherd.exited(pid), shepherd.printed());
                Thread.sleep(10);
            }
            return SavedJob.capture(pid, shepherd);
        } finally {
            Leftovers.removeSystemV(pid);
        }
    }

    /** Where it goes well, that is well too: the lie was about something that the program can do without. */
    private void restore(Survivor survivor) throws Exception {
        SavedJob lying = survivor.saved().as(survivor.lie().image(), survivor.saved().memory());
        try (ShepherdProcess shepherd = survivor.saved().newShepherd(installation.shepherd(),
                directory.resolve("r" + ++restarts), directory.resolve("output"))) {
            CompletableFuture<Integer> restored = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    restored.complete(lying.restore(shepherd));
                } catch (Throwable failure) {
                    restored.completeExceptionally(failure);
                }
            });
            assertTrue(restored.get(LONG.toSeconds(), TimeUnit.SECONDS) > 0, survivor.lie().lie());
        } catch (ExecutionException refused) {
            assertTrue(switch (refused.getCause()) {
                case RestoreException _,NameRefused _,UntrustedPath _,TraceeGone _,LinuxError _,FilesChanged _ -> true;
                default -> false;
            }, () -> survivor.lie().lie() + ": " + refused.getCause());
            assertFalse(String.valueOf(refused.getCause().getMessage()).isBlank(), survivor.lie().lie());
        } catch (java.util.concurrent.TimeoutException hangs) {
            throw new AssertionError("it hangs: " + survivor.lie().lie(), hangs);
        }
    }
}
