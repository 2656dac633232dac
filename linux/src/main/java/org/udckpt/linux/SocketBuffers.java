package org.udckpt.linux;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Queues of sockets and their messages in the kernel's memory (struct sk_buff, linux/skbuff.h). */
final class SocketBuffers {
    /** Of one queue; a longer one is none. */
    private static final int MOST_MESSAGES = 1 << 16;
    private static final int MOST_BYTES = 1 << 30;

    private final KernelReader kernel;
    private final KernelTypes types;

    SocketBuffers(KernelReader kernel) {
        this.kernel = kernel;
        this.types = kernel.types;
    }

    /** A queue's struct sk_buffs: a ring, of which the head is in the socket. @param name of struct sock */
    List<Long> queue(long socket, String name) throws IOException {
        long head = socket + types.offset("sock", name);
        List<Long> all = new ArrayList<>();
        for (long one = kernel.pointer(head); one != head; one = kernel.pointer(one, "sk_buff", "next")) {
            all.add(one);
            if (all.size() > MOST_MESSAGES) {
                throw new IOException("the queue of a socket has no end");
            }
        }
        return all;
    }

    /** All bytes of a message. */
    byte[] message(long buffer) throws IOException {
        return behind(buffer, kernel.pointer(buffer, "sk_buff", "data"));
    }

    /** The bytes behind the header of the transport protocol of a packet that is not on its way yet. */
    byte[] payload(long buffer, int headerBytes) throws IOException {
        int header = kernel.number(buffer, "sk_buff", "transport_header") & 0xffff;
        return behind(buffer, kernel.pointer(buffer, "sk_buff", "head") + header + headerBytes);
    }

    /** What is in one piece from {@code begin} on, and the pieces of pages behind that. */
    private byte[] behind(long buffer, long begin) throws IOException {
        int length = kernel.number(buffer, "sk_buff", "len");
        int inPages = kernel.number(buffer, "sk_buff", "data_len");
        long end = kernel.pointer(buffer, "sk_buff", "data") + length - inPages;
        if (inPages < 0 || inPages > length || length > MOST_BYTES || begin > end || end - begin > length) {
            throw new IOException("a message of a socket has impossible lengths");
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(kernel.bytes(begin, (int) (end - begin)));
        if (inPages > 0) {
            addPages(buffer, inPages, bytes);
        }
        return bytes.toByteArray();
    }

    private void addPages(long buffer, int length, ByteArrayOutputStream bytes) throws IOException {
        PageContents pages = PageContents.running(kernel);
        boolean netmem = types.has("skb_frag", "netmem"); // since Linux 6.9; a struct bio_vec before
        String piece = netmem ? "skb_frag" : "bio_vec";
        // struct skb_shared_info is behind the memory of the buffer, whose end is an offset on 64-bit machines
        long shared = kernel.pointer(buffer, "sk_buff", "head") + Integer.toUnsignedLong(
                kernel.number(buffer, "sk_buff", "end"));
        if (kernel.pointer(shared, "skb_shared_info", "frag_list") != 0) {
            throw new IOException("a message of a socket is a list of messages");
        }
        int count = kernel.number(shared, "skb_shared_info", "nr_frags") & 0xff;
        int size = types.size(piece);
        ByteBuffer all = ByteBuffer.wrap(kernel.bytes(shared + types.offset("skb_shared_info", "frags"), count * size))
                .order(ByteOrder.LITTLE_ENDIAN);
        int left = length;
        for (int i = 0; i < count; i++) {
            int one = all.getInt(i * size + types.offset(piece, netmem ? "len" : "bv_len"));
            if (one < 0 || one > left) {
                throw new IOException("a message of a socket has impossible lengths");
            }
            long page = all.getLong(i * size + types.offset(piece, netmem ? "netmem" : "bv_page"));
            int offset = all.getInt(i * size + types.offset(piece, netmem ? "offset" : "bv_offset"));
            if ((page & 1) != 0) {
                throw new IOException("a message of a socket is in a device's memory");
            }
            bytes.writeBytes(kernel.bytes(pages.content(page) + offset, one));
            left -= one;
        }
        if (left != 0) {
            throw new IOException("a message of a socket is not whole");
        }
    }
}
