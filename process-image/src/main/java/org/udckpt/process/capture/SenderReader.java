package org.udckpt.process.capture;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_PEEK;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PASSCRED;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.MessageSender;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.unix.CredentialsInFlight;

/**
 * Who sent messages that wait in unix sockets (SCM_CREDENTIALS of unix(7)), by the job's own numbers: one who has ended
 * is known in the job's namespace only, and a look at the message from there tells it.
 */
final class SenderReader {
    private static final int SO_PEEK_OFF = 42, NOBODY = 0;
    /** What is written for recvmsg(2): an int, struct msghdr, one struct iovec, a byte, and room for credentials. */
    private static final int HEADER = 8, PIECE = 64, BYTE = 80, CONTROL = 88, CONTROL_BYTES = 32, CONTROL_DATA = 16;

    private record Message(OpenDescriptor open, MessageSender sender) {}

    private final ObjectTable table;
    private final Map<Integer, Integer> numbers;
    private final List<Message> messages = new ArrayList<>();

    /** @param numbers of the job's processes: as this process and as the job numbers them */
    SenderReader(ObjectTable table, Map<Integer, Integer> numbers) {
        this.table = table;
        this.numbers = numbers;
    }

    void read(OpenDescriptor open, MessageSender sender) {
        messages.add(new Message(open, sender));
    }

    /** When all processes have been read: those that one of them sent. */
    void finish() {
        messages.removeIf(one -> {
            Integer pid = numbers.get(one.sender.pid());
            if (pid == null && one.open.process().inFlight()) {
                pid = PeerCredentialReader.hereToo(one.open.process(), one.sender.pid());
            }
            if (pid != null) {
                add(one, pid);
            }
            return pid != null;
        });
    }

    boolean open() {
        return !messages.isEmpty();
    }

    /** On the tracer thread of these processes. */
    void ask(List<TracedProcess> processes) {
        for (Message one : messages) {
            if (one.open.process() instanceof TracedProcess process && processes.contains(process)) {
                PeerCredentialReader.refuseApart(process);
                add(one, pid(process, one.open.fd(), one.sender.offset()));
            }
        }
    }

    private void add(Message one, int pid) {
        MessageSender sender = one.sender;
        if (pid == NOBODY) {
            throw one.open.refuse("a message of a process outside of the job is in flight in this unix socket with its "
                    + "credentials (SCM_CREDENTIALS); try again when it was read");
        }
        table.add(new CredentialsInFlight(table.newId(), sender.object(), sender.message(), pid, sender.uid(),
                sender.gid()));
    }

    /** There is no room for descriptors, so that the process gets none. */
    private static int pid(TracedProcess process, int fd, int offset) {
        int before = option(process, fd, SO_PEEK_OFF);
        int asks = option(process, fd, SO_PASSCRED);
        set(process, fd, SO_PASSCRED, 1);
        set(process, fd, SO_PEEK_OFF, offset);
        long at = Parasite.results(process.main().frame);
        process.memory.writeBytes(at, header(at));
        process.main().injector.check("look at a message", Syscall.RECVMSG, fd, at + HEADER, MSG_PEEK | MSG_DONTWAIT);
        int pid = (int) process.memory.readLong(at + CONTROL + CONTROL_DATA);
        set(process, fd, SO_PEEK_OFF, before);
        set(process, fd, SO_PASSCRED, asks);
        return pid;
    }

    private static byte[] header(long at) {
        ByteBuffer bytes = ByteBuffer.allocate(CONTROL + CONTROL_BYTES).order(LITTLE_ENDIAN);
        bytes.putLong(HEADER + 16, at + PIECE).putLong(HEADER + 24, 1);
        bytes.putLong(HEADER + 32, at + CONTROL).putLong(HEADER + 40, CONTROL_BYTES);
        return bytes.putLong(PIECE, at + BYTE).putLong(PIECE + 8, 1).array();
    }

    private static int option(TracedProcess process, int fd, int option) {
        long at = Parasite.results(process.main().frame);
        process.memory.writeBytes(at + Integer.BYTES, new byte[]{Integer.BYTES, 0, 0, 0});
        process.main().injector.check("getsockopt", Syscall.GETSOCKOPT, fd, SOL_SOCKET, option, at, at + Integer.BYTES);
        return (int) process.memory.readLong(at);
    }

    private static void set(TracedProcess process, int fd, int option, int value) {
        long at = Parasite.results(process.main().frame);
        process.memory.writeBytes(at, ByteBuffer.allocate(Integer.BYTES).order(LITTLE_ENDIAN).putInt(value).array());
        process.main().injector.check("setsockopt", Syscall.SETSOCKOPT, fd, SOL_SOCKET, option, at, Integer.BYTES);
    }
}
