package org.udckpt.linux;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The datagram that a UDP socket collects (UDP_CORK and MSG_MORE, udp(7)): no call tells it before it is sent.
 *
 * @param to struct sockaddr_in or sockaddr_in6
 * @param shut whether the socket sends no more (shutdown(2))
 */
public record UnsentDatagram(byte[] bytes, byte[] to, boolean shut) {
    private static final int HEADER_BYTES = 8, MOST_BYTES = 1 << 16, SEND_SHUTDOWN = 2;

    /**
     * Null: it collects none.
     *
     * @param socket a descriptor of this process, of a UDP socket to which nothing happens meanwhile
     * @throws LinuxError this user, or this kernel, cannot read it. @throws IOException as that
     */
    public static UnsentDatagram of(int socket) throws IOException {
        try (KernelReader kernel = new KernelReader()) {
            long sock = kernel.socket(kernel.currentTask(), socket);
            int family = kernel.number(sock, "udp_sock", "pending") & 0xffff;
            if (family == 0) {
                return null;
            }
            SocketBuffers buffers = new SocketBuffers(kernel);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            int header = HEADER_BYTES;
            for (long one : buffers.queue(sock, "sk_write_queue")) { // one for each fragment (ip(7))
                bytes.writeBytes(buffers.payload(one, header));
                header = 0;
                if (bytes.size() > MOST_BYTES) {
                    throw new IOException("a datagram has impossible lengths");
                }
            }
            return new UnsentDatagram(bytes.toByteArray(), to(kernel, sock, family),
                    (kernel.number(sock, "sock", "sk_shutdown") & SEND_SHUTDOWN) != 0);
        }
    }

    /** struct flowi4 or flowi6 (net/flow.h). */
    private static byte[] to(KernelReader kernel, long sock, int family) throws IOException {
        KernelTypes types = kernel.types;
        long flow = sock + types.offset("inet_sock", "cork") + types.offset("inet_cork_full", "fl");
        boolean four = family == TcpAddress.IPV4;
        String struct = four ? "flowi4" : "flowi6";
        byte[] port = kernel.bytes(flow + types.offset(struct, "uli"), 2); // dport is its first
        byte[] address = kernel.bytes(flow + types.offset(struct, "daddr"), four ? 4 : 16);
        ByteBuffer name = ByteBuffer.allocate(four ? 16 : 28).order(ByteOrder.LITTLE_ENDIAN);
        name.putShort((short) family).put(port);
        if (four) {
            name.put(address);
        } else {
            boolean link = (address[0] & 0xff) == 0xfe && (address[1] & 0xc0) == 0x80 || (address[0] & 0xff) == 0xff;
            int device = kernel.number(flow + types.offset("flowi_common", "flowic_oif"));
            name.putInt(0).put(address).putInt(link ? device : 0);
        }
        return name.array();
    }
}
