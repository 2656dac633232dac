package org.udckpt.process.capture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** On which nodes threads want their memory (set_mempolicy(2)). A fork inherits that of the main thread only. */
final class NumaPolicies {
    static final int GET_MEMPOLICY = 239, OF_ADDRESS = 2 /* MPOL_F_ADDR */;
    /** Nodes, and bytes of an answer: the mode, then a bit for each. */
    static final int BITS = 1024, BYTES = 8 + BITS / 8;
    /**
     * An address and "default". For who asks for no more than a record has, the kernel makes no other: each costs a
     * walk through all pages of a mapping.
     */
    private static final int FIRST_RECORD = 24;
    private static final boolean SEVERAL_NODES = several();

    private NumaPolicies() {}

    private static boolean several() {
        String nodes = text("/sys/devices/system/node/has_memory");
        return nodes.contains("-") || nodes.contains(",");
    }

    /**
     * By calls in the threads of which /proc says that they have one. Where there is one node a process is looked at
     * whose main thread has one: what any other alone has asked for was no choice.
     */
    static void ask(List<TracedProcess> processes) {
        List<TracedThread> asked = new ArrayList<>();
        List<TracedProcess> owners = new ArrayList<>();
        for (TracedProcess process : processes) {
            if (SEVERAL_NODES || chosen(process, process.main())) {
                for (TracedThread thread : process.threads) {
                    if (chosen(process, thread)) {
                        asked.add(thread);
                        owners.add(process);
                    }
                }
            }
        }
        long[] results = CallInAll.make(asked.stream().map(thread -> thread.injector).toList(), i -> {
            long answer = Parasite.results(asked.get(i).frame);
            return new long[]{GET_MEMPOLICY, answer, answer + 8, BITS, 0, 0};
        });
        for (int i = 0; i < results.length; i++) {
            LinuxError.check(results[i], "get_mempolicy in thread " + asked.get(i).tid);
            byte[] answer = owners.get(i).memory.readBytes(Parasite.results(asked.get(i).frame), BYTES);
            asked.get(i).memoryPolicy = values(answer);
        }
    }

    /**
     * The first record of numa_maps (Documentation/filesystems/proc.rst) has the policy of the mapping, or else that of
     * the thread.
     */
    private static boolean chosen(TracedProcess process, TracedThread thread) {
        String record = text("/proc/" + process.pid + "/task/" + thread.tid + "/numa_maps");
        return !record.isEmpty() && !record.substring(record.indexOf(' ') + 1).startsWith("default");
    }

    /** Its beginning; "" where there is none. The kernel makes no more records than the buffer takes. */
    private static String text(String path) {
        long fd = Files.tryOpen(path, Syscall.O_RDONLY);
        if (fd < 0) {
            return "";
        }
        try {
            long n = LinuxError.check(Syscall.call(Syscall.READ, fd, Scratch.data().address(), FIRST_RECORD),
                    "read " + path);
            byte[] bytes = Scratch.data().asSlice(0, n).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            return new String(bytes, StandardCharsets.UTF_8);
        } finally {
            Files.close((int) fd);
        }
    }

    /**
     * Values of an {@link org.udckpt.process.model.AttributeKind#MEMORY_POLICY} from an answer; empty: there is none.
     */
    static long[] values(byte[] answer) {
        ByteBuffer bytes = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN);
        int mode = bytes.getInt(0);
        int words = BITS / Long.SIZE;
        while (words > 0 && bytes.getLong(8 * words) == 0) {
            words--;
        }
        if (mode == 0) {
            return new long[0];
        }
        long[] values = new long[1 + words];
        values[0] = mode;
        for (int i = 1; i <= words; i++) {
            values[i] = bytes.getLong(8 * i);
        }
        return values;
    }
}
