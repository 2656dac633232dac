package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where the content of a page is, of which the kernel has only the struct page. All structs are one behind the other
 * in the order of the pages, and so are the pages where the kernel sees them all (CONFIG_SPARSEMEM_VMEMMAP): one page
 * of which both are known is enough. That is the page of a packet socket's ring (packet(7)), of which the kernel has
 * the address of the content, and its struct page when it was given to a pipe (vmsplice(2)).
 */
final class PageContents {
    private static final int PAGE = 4096, AF_PACKET = 17, SOCK_RAW = 3, SOL_PACKET = 263, PACKET_RX_RING = 5;

    /** Found once: the end of a packet socket waits for all processors, 10 ms and more. */
    private static PageContents running;

    private final int structBytes;
    private final long struct, content;

    /** The running kernel's. */
    static synchronized PageContents running(KernelReader kernel) throws IOException {
        if (running == null) {
            running = new PageContents(kernel);
        }
        return running;
    }

    private PageContents(KernelReader kernel) throws IOException {
        structBytes = kernel.types.size("page");
        int ring = PacketCalls.open(AF_PACKET, SOCK_RAW, 0); // of protocol 0: nothing comes
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(16, 8); // struct tpacket_req
            request.set(JAVA_INT, 0, PAGE);
            request.set(JAVA_INT, 4, 1);
            request.set(JAVA_INT, 8, PAGE);
            request.set(JAVA_INT, 12, 1);
            LinuxError.check(Syscall.call(Syscall.SETSOCKOPT, ring, SOL_PACKET, PACKET_RX_RING, request.address(), 16),
                    "a packet socket's ring");
            MemorySegment page = MappedMemory.shared(arena, ring, PAGE, "a packet socket's ring");
            long socket = kernel.socket(kernel.currentTask(), ring)
                    + kernel.types.offset("packet_sock", "rx_ring");
            content = kernel.pointer(kernel.pointer(socket, "packet_ring_buffer", "pg_vec"), "pgv", "buffer");
            struct = inPipe(kernel, page, arena);
        } finally {
            Files.close(ring);
        }
    }

    /** The struct page of the first page of memory of this process. */
    private static long inPipe(KernelReader kernel, MemorySegment page, Arena arena) throws IOException {
        MemorySegment ends = arena.allocate(8, 8);
        LinuxError.check(Syscall.call(Syscall.PIPE2, ends.address(), Syscall.O_CLOEXEC), "pipe2");
        int read = ends.get(JAVA_INT, 0), write = ends.get(JAVA_INT, 4);
        try {
            MemorySegment vector = arena.allocate(16, 8); // struct iovec
            vector.set(JAVA_LONG, 0, page.address());
            vector.set(JAVA_LONG, 8, PAGE);
            LinuxError.check(Syscall.call(Syscall.VMSPLICE, write, vector.address(), 1, 0), "vmsplice");
            long pipe = kernel.pointer(kernel.file(kernel.currentTask(), read), "file", "private_data");
            return kernel.pointer(kernel.pointer(pipe, "pipe_inode_info", "bufs"), "pipe_buffer", "page");
        } finally {
            Files.close(read);
            Files.close(write);
        }
    }

    /** The address of a page's content. @param page of its struct page */
    long content(long page) {
        return content + (page - struct) / structBytes * PAGE;
    }
}
