package org.udckpt.process.kinds.refused;

import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** What a restart does not open again in a mount namespace that the job has made (mount_namespaces(7)). */
public final class RefusedInNamespaces {
    private static final int TERMINAL_FIRST = 136, TERMINAL_LAST = 143;
    private static final long MASTER = 0x502;

    private RefusedInNamespaces() {}

    /** @throws RuntimeException the refusal */
    public static void refuse(OpenDescriptor open) {
        if (open.process().mountNamespace() == 0) {
            return;
        }
        String what = open.deletedDirectory() ? open.link()
                : isTerminal(open) && open.process().ownsFileSystem(open.stat(), open.proc())
                        ? open.link() + ", of a /dev/pts that only the namespace has,"
                        : isMadeAnew(open) && !isThere(open)
                                ? open.link() + ", on a mount that only the namespace has," : null;
        if (what != null) {
            throw open.refuse(what + " is open in a mount namespace of the job's own, where it cannot be checkpointed; "
                    + "close it first");
        }
    }

    private static boolean isTerminal(OpenDescriptor open) {
        long device = open.stat().rawDevice();
        long major = device >> 8 & 0xfff;
        return open.stat().type() == Files.Stat.CHARACTER
                && (device == MASTER || major >= TERMINAL_FIRST && major <= TERMINAL_LAST);
    }

    /** Whether a restart makes a new file under its name, outside: a FIFO, or a file that was deleted. */
    private static boolean isMadeAnew(OpenDescriptor open) {
        return open.link().startsWith("/") && !open.link().startsWith("/memfd:") && !open.messageQueue()
                && !open.process().ownsFileSystem(open.stat(), open.proc()) && (open.stat().type() == Files.Stat.FIFO
                        || open.stat().type() == Files.Stat.REGULAR && open.stat().links() == 0);
    }

    private static boolean isThere(OpenDescriptor open) {
        return open.name().equals(open.process().outside(open.name()));
    }
}
