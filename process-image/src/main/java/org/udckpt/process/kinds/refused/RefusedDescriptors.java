package org.udckpt.process.kinds.refused;

import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.process.cuda.NvidiaNodes;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Kinds of descriptors without a name that are refused with words of their own: a kind that is kept one day goes from
 * here into a folder of its own.
 */
public final class RefusedDescriptors {
    private static final Map<String, String> WORDS =
            Map.of("anon_inode:[userfaultfd]", "userfaultfd cannot be checkpointed; run the program without it");

    private RefusedDescriptors() {}

    /** What a restart could not make for a queue or a thread alone: its state is that of the processes that have it. */
    public static void refuseInFlight(OpenDescriptor open) {
        String link = open.link();
        boolean terminal = link.startsWith("/dev/pts/") || link.equals("/dev/ptmx") || link.equals("/dev/tty");
        if (terminal || link.equals("anon_inode:inotify") || link.equals("anon_inode:[fanotify]")) {
            throw open.refuse(link + " is open in no process, which cannot be checkpointed; "
                    + "keep it open in one, too");
        }
        if (open.info().contains("lock:")) {
            throw open.refuse("a lock or lease on " + link + ", which is open in no process, cannot be checkpointed; "
                    + "keep the file open in one, too");
        }
    }

    /** The refusal of a descriptor without a path that no kind takes. */
    public static RuntimeException refusal(OpenDescriptor open) {
        return open.refuse(WORDS.getOrDefault(open.link(),
                open.link().startsWith("anon_inode:")
                        ? open.link() + " cannot be checkpointed; close it first"
                        : open.link() + " is a kind of descriptor that cannot be checkpointed; close it first"));
    }

    /** The refusal of a descriptor with a path, other than a regular file, that no kind takes. */
    public static RuntimeException refusalOfFile(OpenDescriptor open) {
        String link = open.link();
        if (open.stat().type() != Files.Stat.CHARACTER) {
            return open.refuse(link + " is neither a file, a directory nor a pipe; close it before a checkpoint");
        }
        if (NvidiaNodes.has(link)) {
            return open.refuse(NvidiaNodes.refusal(link, "open"));
        }
        return open.refuse(link.startsWith("/dev/infiniband/")
                ? link + " was opened behind the library; only verbs that go through libibverbs.so.1 can be "
                        + "checkpointed (is LD_PRELOAD"
                        + " cleared, is libibverbs linked statically, or opened by dlmopen(3)?)"
                : "device " + link
                        + " cannot be checkpointed; close it first, or redirect standard streams to files");
    }
}
