package org.udckpt.process.model;

/**
 * Where a machine's XSAVE areas in standard format hold what (Intel SDM vol. 1, 13.4): a processor of another maker, or
 * another hypervisor, may have the same components elsewhere.
 *
 * @param bytes of an area as ptrace(2) gives and takes it (NT_X86_XSTATE)
 * @param components state components that the kernel has enabled for programs; bit i is XCR0's bit i
 * @param offsets of component i in an area, 0 where it has no fixed place after the header (0: x87, 1: SSE) or is not
 *     enabled
 * @param sizes of component i in bytes, 0 likewise
 * @param compact the processor has XSAVEC, which the C library's dynamic linker prefers for saving registers on the
 *     stack
 */
public record VectorLayout(int bytes, long components, int[] offsets, int[] sizes, boolean compact) {
    /** The legacy region and the header. */
    public static final int HEADER_END = 576;

    public boolean same(VectorLayout other) {
        return bytes == other.bytes && components == other.components && compact == other.compact
                && java.util.Arrays.equals(offsets, other.offsets)
                && java.util.Arrays.equals(sizes, other.sizes);
    }

    public boolean has(int component) {
        return (components >>> component & 1) != 0;
    }
}
