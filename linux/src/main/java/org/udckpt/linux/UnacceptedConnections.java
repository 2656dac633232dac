package org.udckpt.linux;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The ends of connections that wait in the queue of a listening unix socket (net/unix/af_unix.c), with what they have
 * received. Nobody has a descriptor of them, and sock_diag(7) leaves them out: only the kernel's memory tells. Root
 * only; the caller sees to it that neither the listener nor its queue changes meanwhile.
 */
public final class UnacceptedConnections implements AutoCloseable {
    /**
     * @param pid as the process was numbered in the asked depth of pid namespaces; 0: it was in none of that depth
     */
    public record User(int pid, int uid, int gid) {}

    /**
     * @param descriptors whether any came with it
     */
    public record Message(User sender, boolean descriptors, byte[] bytes) {}

    /**
     * One end, of which {@code groups} are those of its client ({@code maker}), and the client has a {@code name}.
     */
    public record End(User maker, int[] groups, boolean name, boolean urgent, List<Message> messages) {}

    private final KernelReader kernel;
    private final KernelTypes types;
    private final SocketBuffers buffers;

    /** @throws LinuxError this user, or this kernel, cannot. @throws IOException as that */
    public UnacceptedConnections() throws IOException {
        kernel = new KernelReader();
        types = kernel.types;
        buffers = new SocketBuffers(kernel);
    }

    /**
     * The queue of a listener in its order.
     *
     * @param listener a descriptor of this process
     * @param depth of the pid namespace of which the numbers are, below this process's
     */
    public List<End> of(int listener, int depth) throws IOException {
        long task = kernel.currentTask();
        long socket = kernel.socket(task, listener);
        int level = depth + kernel.number(kernel.pointer(task, "task_struct", "thread_pid"), "pid", "level");
        List<End> ends = new ArrayList<>();
        for (long one : buffers.queue(socket, "sk_receive_queue")) {
            ends.add(end(kernel.pointer(one, "sk_buff", "sk"), level));
        }
        return ends;
    }

    private End end(long socket, int level) throws IOException {
        long peer = kernel.pointer(socket, "unix_sock", "peer");
        boolean name = peer != 0 && kernel.pointer(peer, "unix_sock", "addr") != 0;
        boolean urgent = types.has("unix_sock", "oob_skb") && kernel.pointer(socket, "unix_sock", "oob_skb") != 0;
        long user = kernel.pointer(socket, "sock", "sk_peer_cred");
        int pid = pid(kernel.pointer(socket, "sock", "sk_peer_pid"), level);
        List<Message> messages = new ArrayList<>();
        for (long one : buffers.queue(socket, "sk_receive_queue")) {
            messages.add(message(one, level));
        }
        return new End(new User(pid, kernel.number(user, "cred", "euid"), kernel.number(user, "cred", "egid")),
                groups(kernel.pointer(user, "cred", "group_info")), name, urgent, messages);
    }

    private int[] groups(long info) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(kernel.bytes(info + types.offset("group_info", "gid"),
                Integer.BYTES * kernel.number(info, "group_info", "ngroups"))).order(ByteOrder.LITTLE_ENDIAN);
        int[] groups = new int[bytes.capacity() / Integer.BYTES];
        Arrays.setAll(groups, i -> bytes.getInt(Integer.BYTES * i));
        return groups;
    }

    private int pid(long pid, int level) throws IOException {
        return pid == 0 || kernel.number(pid, "pid", "level") < level
                ? 0
                : kernel.number(pid + types.offset("pid", "numbers") + (long) types.size("upid") * level, "upid", "nr");
    }

    private Message message(long buffer, int level) throws IOException {
        long along = buffer + types.offset("sk_buff", "cb");
        User sender = new User(pid(kernel.pointer(along, "unix_skb_parms", "pid"), level),
                kernel.number(along, "unix_skb_parms", "uid"), kernel.number(along, "unix_skb_parms", "gid"));
        return new Message(sender, kernel.pointer(along, "unix_skb_parms", "fp") != 0,
                buffers.message(buffer));
    }

    @Override
    public void close() {
        kernel.close();
    }
}
