package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.MSG_CMSG_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.SOCK_SEQPACKET;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.SocketMessage;
import org.udckpt.linux.Syscall;

/**
 * Gives a tracee descriptors of this process: over a socket pair that the tracee makes and of which this process takes
 * one end (SCM_RIGHTS, unix(7)).
 */
final class Handover {
    private static final int CONTROL_HEADER = 16;

    private Handover() {}

    /** Object {@code ids[i]} is what {@code descriptors[i]} names; they stay open here. */
    static void give(Tracee tracee, Handles handles, List<Long> ids, List<Integer> descriptors) {
        give(tracee, descriptors, (place, number) -> handles.add(tracee, ids.get(place), number));
    }

    /** The numbers of {@code descriptors} in the tracee, which are the lowest ones that are free. */
    static long[] give(Tracee tracee, List<Integer> descriptors) {
        long[] numbers = new long[descriptors.size()];
        give(tracee, descriptors, (place, number) -> numbers[place] = number);
        return numbers;
    }

    /** The same of descriptors of a third process. @param from as this process numbers it */
    static long[] pass(Tracee tracee, int from, List<Long> descriptors) {
        List<Integer> here = new ArrayList<>();
        try (ProcessHandleFd process = new ProcessHandleFd(from)) {
            descriptors.forEach(descriptor -> here.add(process.duplicate((int) (long) descriptor)));
            return give(tracee, here);
        } finally {
            here.forEach(Files::close);
        }
    }

    /** This process's number of one that {@code member}'s pid namespace numbers {@code pid}. */
    static int host(int member, int pid) {
        String namespace = Files.readLink("/proc/" + member + "/ns/pid");
        for (int candidate : Proc.numbers("/proc")) {
            try {
                String directory = "/proc/" + candidate;
                if (Proc.field(Proc.text(directory + "/status"), "NSpid:").endsWith("\t" + pid)
                        && namespace.equals(Files.readLink(directory + "/ns/pid"))) {
                    return candidate;
                }
            } catch (LinuxError othersOrGone) {
                continue;
            }
        }
        throw new LinuxError("find process " + pid + " of the job", LinuxError.ESRCH);
    }

    private interface Taker {
        void take(int place, long number);
    }

    private static void give(Tracee tracee, List<Integer> descriptors, Taker taker) {
        long pair = tracee.structure().i64(0).put();
        tracee.call("socketpair", Syscall.SOCKETPAIR, AF_UNIX, SOCK_SEQPACKET | Syscall.O_CLOEXEC, 0, pair);
        int theirs = tracee.readInt(pair);
        int ours = tracee.readInt(pair + 4);
        try (ProcessHandleFd process = new ProcessHandleFd(tracee.hostPid())) {
            int end = process.duplicate(ours);
            try {
                for (int at = 0; at < descriptors.size(); at += SocketMessage.MOST_DESCRIPTORS) {
                    List<Integer> part =
                            descriptors.subList(at, Math.min(descriptors.size(), at + SocketMessage.MOST_DESCRIPTORS));
                    SocketMessage.send(end, new byte[1], part, "pass descriptors to a restored process");
                    int[] numbers = receive(tracee, theirs, part.size());
                    for (int i = 0; i < numbers.length; i++) {
                        taker.take(at + i, numbers[i]);
                    }
                }
            } finally {
                Files.close(end);
            }
        }
        Batch batch = new Batch(tracee);
        batch.close(theirs);
        batch.close(ours);
        batch.run();
    }

    private static int[] receive(Tracee tracee, long socket, int count) {
        int control = CONTROL_HEADER + 4 * count;
        long space = tracee.bytes(new byte[control + 16]);
        long vector = tracee.structure().i64(space + control).i64(1).put();
        long header = tracee.structure().i64(0).i64(0).i64(vector).i64(1).i64(space).i64(control).i64(0).put();
        tracee.call("take descriptors", Syscall.RECVMSG, socket, header, MSG_CMSG_CLOEXEC);
        if (tracee.readInt(space) != control) {
            throw tracee.failed("not all of " + count
                    + " descriptors could be taken over; raise the hard limit of open files (ulimit -Hn)");
        }
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = tracee.readInt(space + CONTROL_HEADER + 4L * i);
        }
        return numbers;
    }
}
