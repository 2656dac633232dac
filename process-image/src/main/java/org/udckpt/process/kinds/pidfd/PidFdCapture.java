package org.udckpt.process.kinds.pidfd;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;

/**
 * Descriptors of processes: fdinfo tells the number, of this process's namespace first and of the process's own last
 * (pidfd_show_fdinfo, fs/pidfs.c).
 */
final class PidFdCapture implements KindCapture {
    private static final int ENDED = -1;
    private static final long PIDFS = 0x50494446; // PID_FS_MAGIC (linux/magic.h)

    private record Found(OpenDescriptor open, long id) {}

    private final CaptureScope scope;
    private final List<Found> found = new ArrayList<>();
    /** The processes that are gone, by their inodes. */
    private final Map<String, Integer> gone = new HashMap<>();

    PidFdCapture(CaptureScope scope) {
        this.scope = scope;
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals("anon_inode:[pidfd]");
    }

    /** Only notes the descriptor; it is examined when all processes are known. */
    @Override
    public long read(OpenDescriptor open) {
        long id = scope.table().newId();
        found.add(new Found(open, id));
        return id;
    }

    @Override
    public void finish() {
        found.forEach(one -> scope.table().add(new PidFd(one.id, one.open.openFlags(), pid(one.open))));
    }

    private int pid(OpenDescriptor open) {
        int here = Integer.parseInt(Proc.field(open.info(), "Pid:"));
        if (here == ENDED) {
            return -gone(open);
        }
        for (StoppedProcess process : scope.processes()) {
            int own = process.pid() == here ? process.namespacePid() : process.namespaceThread(here);
            if (own != 0) {
                return own;
            }
        }
        String[] numbers = numbers(open.info());
        int level = numbers(Proc.text("/proc/" + open.process().task() + "/status")).length
                - open.process().pidNamespaces();
        int own = numbers.length < level ? 0 : Integer.parseInt(numbers[level - 1]);
        if (own != 0 && scope.ended(own)) {
            return own;
        }
        throw open.refuse("it refers to process " + here + " (pidfd_open(2)), which is not part of the job; close it "
                + "first");
    }

    /**
     * Counted from 1: descriptors of the same process have the same inode from Linux 6.9 on. Before, all anonymous
     * files share one, and whether two descriptors are of the same process cannot be known: 0.
     */
    private int gone(OpenDescriptor open) {
        String path = "/proc/" + open.process().task() + "/fd/" + open.fd();
        boolean own = Syscall.call(Syscall.STATFS, Scratch.string(path), Scratch.data().address()) == 0
                && Scratch.data().get(JAVA_LONG, 0) == PIDFS;
        return own ? gone.computeIfAbsent(Proc.field(open.info(), "ino:").strip(), _ -> gone.size() + 1) : 0;
    }

    /** In each namespace, from this process's on. */
    private static String[] numbers(String info) {
        return Proc.field(info, "NSpid:").strip().split("\\s+");
    }
}
