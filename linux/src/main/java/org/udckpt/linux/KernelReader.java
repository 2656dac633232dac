package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads memory of the kernel, for what no other interface tells: root only (CAP_BPF, CAP_PERFMON; not where the kernel
 * is locked down), from Linux 5.10 on. A program of bpf(2) copies it, which is harmless at any address
 * (bpf_probe_read_kernel of bpf-helpers(7)). Nothing is locked: who reads a list has to know that nobody changes it.
 */
final class KernelReader implements AutoCloseable {
    private static final int BPF = 321, MAP_CREATE = 0, MAP_LOOKUP = 1, PROG_LOAD = 5, PROG_TEST_RUN = 10;
    private static final int ARRAY = 2, RAW_TRACEPOINT = 17;
    private static final int LOOKUP = 1, CURRENT_TASK = 35, READ_KERNEL = 113;
    /** Bytes that one run copies, behind the address of which they are. */
    private static final int MOST = 4096, ADDRESS_BYTES = 8;
    private static final int ATTRIBUTE = 120;

    /** Where things are in structs. */
    final KernelTypes types;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment attribute = arena.allocate(ATTRIBUTE, 8);
    private final MemorySegment value = arena.allocate(ADDRESS_BYTES + MOST, 8);
    private final MemorySegment context = arena.allocate(16, 8);
    private final MemorySegment key = arena.allocate(8, 8);
    private int map = -1;
    private int program = -1;

    /** @throws LinuxError this user, or this kernel, cannot. @throws IOException the kernel does not tell its types */
    KernelReader() throws IOException {
        try {
            types = KernelTypes.running();
            map = (int) bpf("bpf(2): a map", MAP_CREATE,
                    new Words(32).i32(ARRAY).i32(4).i32(ADDRESS_BYTES + MOST).i32(1));
            byte[] code = code();
            MemorySegment instructions = arena.allocate(code.length, 8);
            MemorySegment.copy(code, 0, instructions, JAVA_BYTE, 0, code.length);
            program = (int) bpf("bpf(2): a program", PROG_LOAD, new Words(ATTRIBUTE).i32(RAW_TRACEPOINT)
                    .i32(code.length / 8).i64(instructions.address()).i64(arena.allocateFrom("GPL").address()));
        } catch (LinuxError | IOException e) {
            close();
            throw e;
        }
    }

    /**
     * Its arguments are an address, 0 for that of the running task, and a number of bytes. The result is an error.
     */
    private byte[] code() {
        Words code = new Words(26 * 8);
        instruction(code, 0xbf, 6, 1, 0, 0); // r6 = the arguments
        instruction(code, 0x79, 8, 6, 0, 0); // r8 = the address
        instruction(code, 0x79, 7, 6, 8, 0); // r7 = the length
        instruction(code, 0x55, 8, 0, 2, 0); // if r8 == 0:
        instruction(code, 0x85, 0, 0, 0, CURRENT_TASK);
        instruction(code, 0xbf, 8, 0, 0, 0); // r8 = the task
        instruction(code, 0x62, 10, 0, -4, 0); // the map's key 0, on the stack
        instruction(code, 0x18, 1, 1 /* a map's descriptor */, 0, map);
        instruction(code, 0, 0, 0, 0, 0); // the second half of the former
        instruction(code, 0xbf, 2, 10, 0, 0);
        instruction(code, 0x07, 2, 0, 0, -4);
        instruction(code, 0x85, 0, 0, 0, LOOKUP);
        instruction(code, 0x55, 0, 0, 2, 0); // if there is no value, which the verifier cannot rule out:
        instruction(code, 0xb7, 0, 0, 0, -LinuxError.ENOENT);
        instruction(code, 0x95, 0, 0, 0, 0);
        instruction(code, 0x7b, 0, 8, 0, 0); // the address is its first word
        instruction(code, 0xbf, 1, 0, 0, 0);
        instruction(code, 0x07, 1, 0, 0, ADDRESS_BYTES);
        instruction(code, 0xbf, 2, 7, 0, 0);
        instruction(code, 0xb5, 2, 0, 2, MOST); // if r2 > MOST:
        instruction(code, 0xb7, 0, 0, 0, -LinuxError.EINVAL);
        instruction(code, 0x95, 0, 0, 0, 0);
        instruction(code, 0xbf, 3, 8, 0, 0);
        instruction(code, 0x85, 0, 0, 0, READ_KERNEL);
        instruction(code, 0x95, 0, 0, 0, 0);
        return code.toArray();
    }

    /** struct bpf_insn. */
    private static void instruction(Words code, int operation, int to, int from, int offset, int number) {
        code.i32(operation | to << 8 | from << 12 | (offset & 0xffff) << 16).i32(number);
    }

    /** Little-endian numbers, one behind the other, with zeros behind them. */
    private static final class Words {
        private final ByteBuffer bytes;

        Words(int most) {
            bytes = ByteBuffer.allocate(most).order(ByteOrder.LITTLE_ENDIAN);
        }

        Words i32(int number) {
            bytes.putInt(number);
            return this;
        }

        Words i64(long number) {
            bytes.putLong(number);
            return this;
        }

        byte[] toArray() {
            return Arrays.copyOf(bytes.array(), bytes.position());
        }
    }

    private long bpf(String what, int command, Words words) {
        attribute.fill((byte) 0);
        byte[] bytes = words.toArray();
        MemorySegment.copy(bytes, 0, attribute, JAVA_BYTE, 0, bytes.length);
        return LinuxError.check(Syscall.call(BPF, command, attribute.address(), ATTRIBUTE), what);
    }

    /** Runs the program; {@link #value} is what it copied. */
    private void run(long address, int length) {
        context.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN).putLong(address).putLong(length);
        bpf("bpf(2): run", PROG_TEST_RUN, new Words(ATTRIBUTE).i32(program).i32(0).i32(0).i32(0).i64(0).i64(0).i32(0)
                .i32(0).i32((int) context.byteSize()).i32(0).i64(context.address()));
        int result = attribute.get(JAVA_INT, 4);
        LinuxError.check(result, "memory of the kernel");
        bpf("bpf(2): look up", MAP_LOOKUP, new Words(32).i32(map).i32(0).i64(key.address()).i64(value.address()));
    }

    /** The address of the struct task_struct of this thread. */
    long currentTask() {
        run(0, 0);
        return value.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    }

    /**
     * The address of the struct sock behind a descriptor of a socket.
     *
     * @param task {@link #currentTask}
     */
    long socket(long task, int descriptor) throws IOException {
        return pointer(pointer(file(task, descriptor), "file", "private_data"), "socket", "sk");
    }

    /** The address of the struct file behind a descriptor. @param task {@link #currentTask} */
    long file(long task, int descriptor) throws IOException {
        long table = pointer(pointer(task, "task_struct", "files"), "files_struct", "fdt");
        return pointer(pointer(table, "fdtable", "fd") + 8L * descriptor);
    }

    byte[] bytes(long address, int length) {
        byte[] all = new byte[length];
        for (int done = 0; done < length;) {
            int part = Math.min(MOST, length - done);
            run(address + done, part);
            MemorySegment.copy(value, JAVA_BYTE, ADDRESS_BYTES, all, done, part);
            done += part;
        }
        return all;
    }

    /** A pointer. */
    long pointer(long address) {
        return ByteBuffer.wrap(bytes(address, 8)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    /** A pointer in a struct. */
    long pointer(long address, String struct, String member) throws IOException {
        return pointer(address + types.offset(struct, member));
    }

    /** An int in a struct. */
    int number(long address, String struct, String member) throws IOException {
        return number(address + types.offset(struct, member));
    }

    int number(long address) {
        return ByteBuffer.wrap(bytes(address, 4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
    }

    @Override
    public void close() {
        if (program >= 0) {
            Files.close(program);
        }
        if (map >= 0) {
            Files.close(map);
        }
        arena.close();
    }
}
