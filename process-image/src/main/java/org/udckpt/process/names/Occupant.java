package org.udckpt.process.names;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;

/**
 * What stands where a name is to be made. What the job's former incarnation has left may make room: it has the job's
 * owner and type, no other name, and nobody uses it. All else stays as it is.
 */
final class Occupant {
    private static final int ECONNREFUSED = 111;

    private Occupant() {}

    /** @param open what processes have open. @return null: nothing; else what may go. @throws NameRefused it may not */
    static Files.Stat check(Folder folder, NewName wanted, OpenFiles open) {
        Files.Stat now = folder.stat(wanted.name());
        if (now == null) {
            return null;
        }
        if (now.type() != wanted.kind().type) {
            throw anothers(wanted, "but there is " + now.kind() + " of user " + now.uid() + " now");
        }
        if (now.uid() != wanted.owner() && now.uid() != User.id()) {
            throw anothers(wanted, "but another file with this name exists now, which belongs to user " + now.uid()
                    + " and not to user " + wanted.owner());
        }
        if (now.links() != 1) {
            throw anothers(wanted, "which has " + now.links() + " names now (hard links)");
        }
        String holder = holder(folder, wanted, now, open);
        if (holder != null) {
            holder = Holders.still(() -> {
                open.forget();
                return holder(folder, wanted, now, open);
            });
        }
        if (holder != null) {
            throw new NameRefused(NameRefused.Reason.IN_USE,
                    wanted.shown() + ", which the job had, is in use by " + holder
                            + ", perhaps because the job, or a copy of it, still runs: end it first, or restart with "
                            + "--map-path OLD=NEW for its directory");
        }
        return now;
    }

    private static NameRefused anothers(NewName wanted, String what) {
        return new NameRefused(NameRefused.Reason.ANOTHERS, "the job had " + wanted.shown() + ", " + what
                + "; nothing was changed: check it and remove it, or restart with --map-path OLD=NEW for its"
                + " directory");
    }

    /** Null: nobody that can be seen. */
    private static String holder(Folder folder, NewName wanted, Files.Stat now, OpenFiles open) {
        return switch (wanted.kind()) {
            case SHARED_MEMORY, FIFO, DIRECTORY, LINK -> open.holder(wanted.name(), now);
            case SOCKET -> answers(folder, wanted.name()) ? Holders.ofSocketFile(now) : null;
        };
    }

    /**
     * Whether a socket is bound to that file, in any network namespace. A datagram socket asks: at a stream's file it
     * only hears that it is of the wrong type, so that no server sees a connection.
     */
    private static boolean answers(Folder folder, String name) {
        long file = folder.tryOpenFile(name, Syscall.O_PATH);
        if (file == -LinuxError.ENOENT) {
            return false;
        }
        LinuxError.check(file, "look at " + folder.below(name));
        long socket = Syscall.call(Syscall.SOCKET, AF_UNIX, SOCK_DGRAM | Syscall.O_CLOEXEC, 0);
        try {
            LinuxError.check(socket, "unix socket");
            byte[] path = ("/proc/self/fd/" + file).getBytes(StandardCharsets.US_ASCII);
            MemorySegment address = Scratch.data().asSlice(0, 3 + path.length); // struct sockaddr_un
            address.set(JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(path, 0, address, JAVA_BYTE, 2, path.length);
            address.set(JAVA_BYTE, 2 + path.length, (byte) 0);
            return Syscall.call(Syscall.CONNECT, socket, address.address(), address.byteSize()) != -ECONNREFUSED;
        } finally {
            Files.close((int) file);
            if (socket >= 0) {
                Files.close((int) socket);
            }
        }
    }
}
