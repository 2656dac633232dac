package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.MSG_CMSG_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.SOCK_SEQPACKET;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.SocketMessage;
import org.udckpt.linux.Syscall;

/**
 * Gives a puppet descriptors of this process: over a socket pair that the puppet makes and of which this process takes
 * one end (SCM_RIGHTS, unix(7)).
 */
final class Handover {
    private static final int CONTROL_HEADER = 16;

    private Handover() {}

    /** Object {@code ids[i]} is what {@code descriptors[i]} names; they stay open here. */
    static void give(Puppet puppet, Handles handles, List<Long> ids, List<Integer> descriptors) {
        give(puppet, handles, descriptors, (place, number) -> handles.add(puppet, ids.get(place), number));
    }

    /** The numbers of {@code descriptors} in the puppet, which are the lowest ones that are free. */
    static long[] give(Puppet puppet, Handles handles, List<Integer> descriptors) {
        long[] numbers = new long[descriptors.size()];
        give(puppet, handles, descriptors, (place, number) -> numbers[place] = number);
        return numbers;
    }

    private interface Taker {
        void take(int place, long number);
    }

    private static void give(Puppet puppet, Handles handles, List<Integer> descriptors, Taker taker) {
        long pair = puppet.structure().i64(0).put();
        puppet.call("socketpair", Syscall.SOCKETPAIR, AF_UNIX, SOCK_SEQPACKET | Syscall.O_CLOEXEC, 0, pair);
        int theirs = puppet.readInt(pair);
        int ours = puppet.readInt(pair + 4);
        try (ProcessHandleFd process = new ProcessHandleFd(puppet.hostPid())) {
            int end = process.duplicate(ours);
            try {
                for (int at = 0; at < descriptors.size(); at += SocketMessage.MOST_DESCRIPTORS) {
                    List<Integer> part =
                            descriptors.subList(at, Math.min(descriptors.size(), at + SocketMessage.MOST_DESCRIPTORS));
                    SocketMessage.send(end, new byte[1], part, "pass descriptors to a restored process");
                    int[] numbers = receive(puppet, theirs, part.size());
                    for (int i = 0; i < numbers.length; i++) {
                        taker.take(at + i, numbers[i]);
                    }
                }
            } finally {
                Files.close(end);
            }
        }
        puppet.call("close", Syscall.CLOSE, theirs);
        puppet.call("close", Syscall.CLOSE, ours);
    }

    private static int[] receive(Puppet puppet, long socket, int count) {
        int control = CONTROL_HEADER + 4 * count;
        long space = puppet.bytes(new byte[control + 16]);
        long vector = puppet.structure().i64(space + control).i64(1).put();
        long header = puppet.structure().i64(0).i64(0).i64(vector).i64(1).i64(space).i64(control).i64(0).put();
        puppet.call("take descriptors", Syscall.RECVMSG, socket, header, MSG_CMSG_CLOEXEC);
        if (puppet.readInt(space) != control) {
            throw puppet.failed("not all of " + count
                    + " descriptors could be taken over; raise the hard limit of open files (ulimit -Hn)");
        }
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = puppet.readInt(space + CONTROL_HEADER + 4L * i);
        }
        return numbers;
    }
}
