package org.udckpt.process.restore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;

/**
 * Vector state (XSAVE areas in standard format) of the machine of the checkpoint for this one, which may have other
 * components, the same ones elsewhere, or areas of another size: component by component, by XSTATE_BV, which says what
 * is in use.
 */
final class VectorConversion {
    /** Offset of XSTATE_BV: the first word of the header, after the legacy region. */
    private static final int IN_USE = 512, LEGACY_END = 512;
    /** The legacy region's bytes for software: Linux says there what is enabled. */
    private static final int SOFTWARE = 464;
    private static final int FIRST = 2, LAST = 62, KEYS = 9, TILES = 18, KEYS_AT_FIRST = 0x55555554;
    /** Vector state on a stack: offsets in the bytes for software, and the marks of both ends. */
    private static final int FRAME_EXTENDED = 4, FRAME_FEATURES = 8, FRAME_SIZE = 16, MAGIC1 = 0x46505853,
            MAGIC2 = 0x46505845, MARK_BYTES = 4;
    static final int FRAME_LEAST = VectorLayout.HEADER_END;
    /** The components of STATE_SAVE_MASK (glibc, sysdeps/x86/sysdep.h) that lie behind AVX. */
    private static final int[] SAVED_BY_LINKER = {3, 5, 6, 7};
    private static final String[] NAMES =
            {"x87", "SSE", "AVX", "MPX bounds", "MPX configuration", "AVX-512 masks", "AVX-512 upper halves",
                    "AVX-512 registers 16 to 31", "processor trace", "protection keys (PKRU)", "PASID", "shadow stacks",
                    "supervisor shadow stacks", "HDC", "user interrupts", "LBR", "HWP",
                    "AMX tile configuration", "AMX tiles", "APX"};

    private final VectorLayout from;
    private final VectorLayout to;
    private final byte[] model;

    /** @param from null: not known; @param to this machine's; @param model the state of a fresh process here */
    VectorConversion(VectorLayout from, VectorLayout to, byte[] model) {
        this.from = from;
        this.to = to;
        this.model = model;
    }

    /** Whether anything is laid out otherwise here, as far as the image says it. */
    boolean needed() {
        return from != null && !from.same(to);
    }

    /** @param tracee its process, for refusals */
    ThreadState convert(Tracee tracee, ThreadState thread) {
        String who = "thread " + thread.tid();
        if (from == null && thread.xstate().length != to.bytes()) {
            throw tracee.unsupported(who + " has vector state of " + thread.xstate().length + " bytes, here it has "
                    + to.bytes()
                    + ", and the image, of an older version, does not describe its layout; restart on a processor "
                    + "and kernel like those of the checkpoint");
        }
        if (!needed()) {
            return thread;
        }
        refuseOverflow(tracee);
        return thread.withXstate(convert(tracee, who, thread.xstate()));
    }

    /**
     * The dynamic linker (glibc, _dl_runtime_resolve) keeps registers on the stack, in room that it measured on the
     * first processor. Where that one had no XSAVEC it uses XSAVE, which writes all that the present processor has of
     * what it asks for.
     */
    private void refuseOverflow(Tracee tracee) {
        for (int component : SAVED_BY_LINKER) {
            int end = to.offsets()[component] + to.sizes()[component];
            if (to.has(component) && !from.has(component) && !from.compact() && end > from.bytes()) {
                throw tracee.unsupported("on the processor of the checkpoint, which had neither " + name(component)
                        + " nor XSAVEC, the C library made room for " + from.bytes()
                        + " bytes of registers, but this one saves " + end + "; restart on a processor without "
                        + name(component) + ", or like that of the checkpoint");
            }
        }
    }

    private byte[] convert(Tracee tracee, String who, byte[] old) {
        byte[] area = new byte[to.bytes()];
        System.arraycopy(old, 0, area, 0, SOFTWARE);
        System.arraycopy(model, SOFTWARE, area, SOFTWARE, LEGACY_END - SOFTWARE);
        long kept = components(tracee, who, inUse(old), old, area);
        if (to.has(KEYS) && !from.has(KEYS)) { // else all keys would be open, which a process does not begin with
            System.arraycopy(model, to.offsets()[KEYS], area, to.offsets()[KEYS], to.sizes()[KEYS]);
            kept |= inUse(model) & 1L << KEYS;
        }
        words(area).putLong(IN_USE, kept);
        return area;
    }

    /** Copies what is in use; the same bits, less those that can be done without. */
    private long components(Tracee tracee, String who, long used, byte[] old, byte[] area) {
        long kept = used & 3;
        for (int i = FIRST; i <= LAST; i++) {
            if ((used >>> i & 1) != 0 && (to.has(i) || !expendable(i, old))) {
                copy(tracee, who, i, old, area);
                kept |= 1L << i;
            }
        }
        return kept;
    }

    /**
     * Of the beginning of a vector state on a stack: its size up to the second mark (struct _fpx_sw_bytes,
     * asm/sigcontext.h); 0: it is none.
     */
    int frameSize(byte[] head) {
        ByteBuffer words = words(head);
        int size = words.getInt(SOFTWARE + FRAME_SIZE);
        boolean plausible = words.getInt(SOFTWARE) == MAGIC1 && size >= FRAME_LEAST
                && words.getInt(SOFTWARE + FRAME_EXTENDED) >= size + MARK_BYTES
                && size <= (from == null ? to : from).bytes();
        return plausible ? size : 0;
    }

    boolean marked(byte[] end) {
        return words(end).getInt(0) == MAGIC2;
    }

    /**
     * @param old vector state on a stack, of {@code size} bytes and the mark; the same in its place, for this machine's
     *     rt_sigreturn
     */
    byte[] frame(Tracee tracee, String who, byte[] old, int size) {
        byte[] area = new byte[old.length];
        System.arraycopy(old, 0, area, 0, LEGACY_END);
        long features = words(old).getLong(SOFTWARE + FRAME_FEATURES);
        long kept = components(tracee, who, inUse(old) & features, Arrays.copyOf(old, size), area);
        int length = Math.min(size, ordinaryEnd());
        words(area).putLong(IN_USE, kept).putLong(SOFTWARE + FRAME_FEATURES, features & to.components())
                .putInt(SOFTWARE + FRAME_SIZE, length).putInt(length, MAGIC2);
        return area;
    }

    /**
     * What the kernel takes at most from a process that has not asked for AMX (check_xstate_in_sigframe,
     * arch/x86/kernel/fpu/signal.c).
     */
    private int ordinaryEnd() {
        int end = FRAME_LEAST;
        for (int i = FIRST; i <= LAST; i++) {
            end = to.has(i) && i != TILES ? Math.max(end, to.offsets()[i] + to.sizes()[i]) : end;
        }
        return end;
    }

    private void copy(Tracee tracee, String who, int component, byte[] old, byte[] area) {
        if (!to.has(component)) {
            throw tracee.unsupported(who + " uses " + name(component) + " (XSAVE component " + component
                    + "), which this processor or kernel does not have; restart on a machine that has it");
        }
        int size = from.sizes()[component];
        int source = from.offsets()[component];
        if (!from.has(component) || size != to.sizes()[component] || source + size > old.length
                || to.offsets()[component] + size > area.length) {
            throw tracee.unsupported(who + "'s vector state has " + name(component) + " in " + size
                    + " bytes at offset " + source + " of " + old.length + ", this processor's in "
                    + to.sizes()[component] + " bytes at offset " + to.offsets()[component] + " of " + area.length
                    + "; restart on a processor like that of the checkpoint");
        }
        System.arraycopy(old, source, area, to.offsets()[component], size);
    }

    /**
     * A component may be marked as in use and hold what it holds at first: zeros (Intel SDM vol. 1, 13.6; emulated
     * processors mark MPX always), or, of protection keys, that all but key 0, which all memory has, are closed
     * (pkeys(7)). Nothing is lost without it.
     */
    private boolean expendable(int component, byte[] old) {
        int size = from.has(component) ? from.sizes()[component] : 0;
        int at = from.offsets()[component];
        if (size == 0 || at + size > old.length) {
            return false;
        }
        for (int i = 0; i < size; i++) {
            if (old[at + i] != 0) {
                return component == KEYS && words(old).getInt(at) == KEYS_AT_FIRST;
            }
        }
        return true;
    }

    private static long inUse(byte[] area) {
        return words(area).getLong(IN_USE);
    }

    private static ByteBuffer words(byte[] area) {
        return ByteBuffer.wrap(area).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static String name(int component) {
        return component < NAMES.length ? NAMES[component] : "an unknown state";
    }
}
