package org.udckpt.process.restore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.trace.ElfSymbols;
import org.udckpt.process.trace.ElfSymbols.Function;
import org.udckpt.process.trace.Registers;

/**
 * The bytes of another kernel's vDSO, made fit for this one. C libraries keep the addresses of its functions (vdso(7)),
 * so each begins with a jump to the running vDSO's function of the same name, or, where that one has none, makes the
 * system call itself. The rest stays for those who read its symbols and unwinding tables: debuggers, and C++
 * exceptions.
 */
final class VdsoStandIn {
    /** jmp *0(%rip), followed by the address: no register changes. */
    private static final int JUMP_BYTES = 14;
    private static final String PREFIX = "__vdso_";
    /** Plain code that needs neither the kernel's data nor a system call: it goes on as it is. */
    private static final String SGX = "sgx_enter_enclave";
    private static final Map<String,
            byte[]> CALLS = Map.of("clock_gettime", call(228), "gettimeofday", call(96), "time", call(201),
                    "clock_getres", call(229),
                    "getcpu", call(309), "getrandom", random());

    private final Tracee tracee;
    private final Region region;
    private final byte[] code;
    private final Map<Long, String> functions = new TreeMap<>();
    private final Set<Long> entries = new HashSet<>();

    /**
     * @param old contents of {@code region};
     * @param running contents of the running kernel's vDSO, which lies at {@code runningAt}
     */
    VdsoStandIn(Tracee tracee, Region region, byte[] old, byte[] running, long runningAt) {
        this.tracee = tracee;
        this.region = region;
        this.code = old.clone();
        Map<String, Function> here = ElfSymbols.functions(running, "this kernel's vDSO");
        Map<String, Function> there = functions(old);
        Map<Long, byte[]> heads = new TreeMap<>();
        there.forEach((name, function) -> {
            functions.merge(function.value(), name, (one, other) -> one.startsWith(PREFIX) ? other : one);
            byte[] head = head(name, here, runningAt);
            if (head != null) {
                heads.putIfAbsent(function.value(), head); // the two names of a function lead to the same place
                write(name, function, heads.get(function.value()));
            }
        });
        refuseUnknown();
    }

    private Map<String, Function> functions(byte[] old) {
        try {
            return ElfSymbols.functions(old, "the vDSO in the image");
        } catch (IllegalArgumentException e) {
            throw tracee.unsupported(e.getMessage());
        }
    }

    private static byte[] head(String name, Map<String, Function> here, long runningAt) {
        String plain = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        Function target = here.containsKey(PREFIX + plain) ? here.get(PREFIX + plain) : here.get(plain);
        return target == null ? CALLS.get(plain) : jump(runningAt + target.value());
    }

    private void write(String name, Function function, byte[] head) {
        if (function.size() < head.length || function.value() < 0 || function.value() + head.length > code.length) {
            throw tracee.unsupported("function " + name + " of the checkpoint's kernel's vDSO has " + function.size()
                    + " bytes at " + function.value() + ", too few for a jump to this kernel's; "
                    + "restart under the kernel version that the job was checkpointed on");
        }
        System.arraycopy(head, 0, code, (int) function.value(), head.length);
        entries.add(function.value());
    }

    private void refuseUnknown() {
        functions.forEach((at, name) -> {
            if (!entries.contains(at) && !name.endsWith(SGX)) {
                throw tracee.unsupported(
                        "the vDSO of the checkpoint's kernel has a function " + name
                                + ", which this kernel's vDSO lacks; "
                                + "restart under a kernel version like the one that the job was checkpointed on");
            }
        });
    }

    byte[] bytes() {
        return code;
    }

    /** Old code would read data that only its own kernel kept; a thread in the middle of it cannot go on. */
    void refuseInside(ThreadState thread) {
        refuseInside(Registers.of(thread.registers()).get(Registers.RIP), "thread " + thread.tid() + " was");
    }

    /** @param who the subject of the refusal */
    void refuseInside(long instruction, String who) {
        long at = instruction - region.start();
        if (at < 0 || at >= region.size() || entries.contains(at)) {
            return;
        }
        String function = "its code";
        for (Map.Entry<Long, String> candidate : functions.entrySet()) {
            function = candidate.getKey() <= at ? candidate.getValue() : function;
        }
        throw tracee.unsupported(who + " in the middle of the vDSO of the checkpoint's kernel (at 0x"
                + Long.toHexString(at) + ", about " + function
                + "), which cannot go on under this one; restart from another checkpoint, or under the kernel version "
                + "that this one was taken on");
    }

    private static byte[] jump(long target) {
        return ByteBuffer.allocate(JUMP_BYTES).order(ByteOrder.LITTLE_ENDIAN).putShort((short) 0x25ff).putInt(0)
                .putLong(target).array();
    }

    /**
     * mov $number, %eax; syscall; ret. The arguments of these functions are those of the calls, in the same registers.
     */
    private static byte[] call(int number) {
        return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).put((byte) 0xb8).putInt(number)
                .putShort((short) 0x050f).put((byte) 0xc3).array();
    }

    /**
     * getrandom(buffer, length, flags, state, size of state): with a size of ~0 the caller asks what kind of state this
     * function wants (Linux, lib/vdso/getrandom.c), and ENOSYS sends it to the system call; else bytes are wanted, and
     * a state is not needed.
     */
    private static byte[] random() {
        return ByteBuffer.allocate(22).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0xfff88349).put((byte) 0x74).put((byte) 8) // cmp $-1, %r8; je to the second half
                .put(call(318))
                // mov $-ENOSYS, %rax; ret
                .put((byte) 0x48).put((byte) 0xc7).put((byte) 0xc0).putInt(-38).put((byte) 0xc3)
                .array();
    }
}
