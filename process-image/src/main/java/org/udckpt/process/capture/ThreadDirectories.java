package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.OpenedByName;
import org.udckpt.process.kinds.base.ThreadPlace;

/** Threads that have a root, working directory and umask of their own (unshare(2), CLONE_FS). */
final class ThreadDirectories {
    private static final String DELETED = " (deleted)";

    private ThreadDirectories() {}

    /** When it is known which directories the processes have. From outside. */
    static void read(List<TracedProcess> processes) {
        List<TracedThread> all = new ArrayList<>();
        for (TracedProcess process : processes) {
            List<ThreadPlace> places = new ArrayList<>();
            for (TracedThread thread : process.threads) {
                if (!SharingCheck.shareDirectories(process.task(), thread.tid)) {
                    places.add(place(process, thread));
                    refuseShared(process, thread, all, processes);
                    all.add(thread);
                }
            }
            process.threadPlaces = places;
        }
    }

    private static ThreadPlace place(TracedProcess process, TracedThread thread) {
        String here = "/proc/" + process.pid + "/task/" + thread.tid + "/";
        String what = "the working directory of thread " + thread.tid;
        if (!"/".equals(process.rootDirectory) || !same(here + "root", "/proc/" + process.task() + "/root")) {
            throw process.refuse("thread " + thread.tid + " has its own root directory (unshare(2) with CLONE_FS, "
                    + "chroot(2)), which cannot be checkpointed");
        }
        String mounts = Files.readLink(here + "ns/mnt");
        if (mounts != null && !mounts.equals(Files.readLink("/proc/" + process.task() + "/ns/mnt"))) {
            throw process.refuse("thread " + thread.tid + " is in another mnt namespace than the process (unshare(2), "
                    + "setns(2)), which cannot be checkpointed");
        }
        String path = Files.readLink(here + "cwd");
        Files.Stat stat = path == null ? null : Files.tryStat(here + "cwd");
        if (stat == null || path.endsWith(DELETED) && stat.links() == 0) {
            throw process.refuse(what + " was removed, which cannot be checkpointed of a thread alone; let it change "
                    + "to another directory first (chdir(2))");
        }
        OpenedByName.entered(process, what, path, stat);
        return new ThreadPlace(thread.namespaceTid, path, Integer.parseInt(thread.status.field("Umask:"), 8));
    }

    /** A restart gives it to this thread alone. */
    private static void refuseShared(TracedProcess process, TracedThread thread, List<TracedThread> others,
            List<TracedProcess> processes) {
        for (TracedThread other : others) {
            refuse(process, thread, other.tid);
        }
        for (TracedProcess other : processes) {
            refuse(process, thread, other.task());
        }
    }

    private static void refuse(TracedProcess process, TracedThread thread, int other) {
        if (SharingCheck.shareDirectories(thread.tid, other)) {
            throw process.refuse("thread " + thread.tid + " has one working directory with " + other + ", and another "
                    + "one than its process (unshare(2) with CLONE_FS), which cannot be checkpointed");
        }
    }

    private static boolean same(String one, String other) {
        return Files.stat(one).isSame(Files.stat(other))
                && String.valueOf(Files.readLink(one)).equals(Files.readLink(other));
    }
}
