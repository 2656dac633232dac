package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * Queues of chance: what udckpt-shepherd tells of their messages is so, and they are the same queues afterwards, with
 * the notification that was asked for.
 */
@Timeout(120)
class QueueCopyTest {
    private static final int MQ_TIMEDRECEIVE = 243, ROUNDS = 150, MOST = 8, LONGEST = 40, SIGEV_NONE = 1;
    private static final int[] PRIORITIES = {0, 0, 1, 5, 1000, 32766, 32767};

    private record Message(int priority, List<Byte> text) {
        static Message of(int priority, byte[] text) {
            List<Byte> bytes = new ArrayList<>();
            for (byte one : text) {
                bytes.add(one);
            }
            return new Message(priority, bytes);
        }
    }

    @Test
    void aQueueStaysAsItWas() throws Exception {
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            try (Arena arena = Arena.ofConfined()) {
                round(random, arena, "round " + round + ", -Dudckpt.seed=" + seed);
            }
        }
    }

    private static void round(Random random, Arena arena, String where) throws Exception {
        int most = 1 + random.nextInt(MOST);
        int queue = made(arena, most);
        try {
            List<Message> sent = new ArrayList<>();
            for (int i = random.nextInt(most + 1); i > 0; i--) {
                byte[] text = new byte[random.nextInt(3) == 0 ? 0 : random.nextInt(LONGEST + 1)];
                random.nextBytes(text);
                int priority = PRIORITIES[random.nextInt(PRIORITIES.length)];
                LinuxError.check(Syscall.call(Syscall.MQ_TIMEDSEND, queue, arena.allocateFrom(JAVA_BYTE,
                        Arrays.copyOf(text, LONGEST)).address(), text.length, priority, 0), "mq_send");
                sent.add(Message.of(priority, text));
            }
            sent.sort(Comparator.comparing(Message::priority).reversed());
            boolean notifies = most > 1 && random.nextBoolean();
            if (notifies) {
                MemorySegment event = arena.allocate(64, 8);
                event.set(JAVA_INT, 12, SIGEV_NONE);
                LinuxError.check(Syscall.call(Syscall.MQ_NOTIFY, queue, event.address()), "mq_notify");
            }
            assertEquals(sent, told(queue), where);
            byte[] status = new byte[128];
            MemorySegment text = arena.allocate(status.length);
            long bytes = LinuxError.check(Syscall.call(Syscall.PREAD64, queue, text.address(), status.length, 0),
                    "read its status");
            String said = new String(text.asSlice(0, bytes).toArray(JAVA_BYTE));
            assertEquals(notifies, said.contains("NOTIFY_PID:" + ProcessHandle.current().pid() + " "), said + where);
            assertEquals(sent, left(queue, arena), where);
        } finally {
            Files.close(queue);
        }
    }

    private static int made(Arena arena, int most) {
        MemorySegment attributes = arena.allocate(64, 8);
        attributes.set(JAVA_LONG, 8, most);
        attributes.set(JAVA_LONG, 16, LONGEST);
        String name = "udckpt-copy-" + ProcessHandle.current().pid();
        int queue = (int) LinuxError.check(Syscall.call(Syscall.MQ_OPEN, Scratch.string(name),
                Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_RDWR | Syscall.O_NONBLOCK, 0600, attributes.address()),
                "mq_open");
        Syscall.call(Syscall.MQ_UNLINK, Scratch.string(name));
        return queue;
    }

    private static List<Message> told(int queue) throws Exception {
        Process shepherd = new ProcessBuilder(Target.NATIVE.resolve("udckpt-shepherd").toString(), "--copy-queue",
                "/proc/" + ProcessHandle.current().pid() + "/fd/" + queue)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        ByteBuffer all = ByteBuffer.wrap(shepherd.getInputStream().readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(0, shepherd.waitFor());
        List<Message> messages = new ArrayList<>();
        while (all.hasRemaining()) {
            int priority = all.getInt();
            byte[] text = new byte[all.getInt()];
            all.get(text);
            messages.add(Message.of(priority, text));
        }
        return messages;
    }

    private static List<Message> left(int queue, Arena arena) {
        MemorySegment text = arena.allocate(LONGEST);
        MemorySegment priority = arena.allocate(JAVA_INT);
        List<Message> messages = new ArrayList<>();
        while (true) {
            long bytes =
                    Syscall.call(MQ_TIMEDRECEIVE, queue, text.address(), LONGEST, priority.address(), 0);
            if (bytes == -LinuxError.EAGAIN) {
                return messages;
            }
            messages.add(Message.of(priority.get(JAVA_INT, 0), text.asSlice(0, LinuxError.check(bytes, "mq_receive"))
                    .toArray(JAVA_BYTE)));
        }
    }
}
