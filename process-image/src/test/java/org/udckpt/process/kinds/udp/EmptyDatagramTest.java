package org.udckpt.process.kinds.udp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import org.junit.jupiter.api.Test;
import org.udckpt.linux.Files;
import org.udckpt.linux.PacketCalls;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpCalls;

/** A datagram without a byte that is the next to be read is seen by each look; the kernel marks it at the first. */
class EmptyDatagramTest {
    private static final int AF_INET = 2;

    @Test
    void eachLookSeesIt() {
        byte[] loopback = {AF_INET, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
        int socket = PacketCalls.open(AF_INET, 2 /* SOCK_DGRAM */, 0);
        try {
            TcpCalls.bind(socket, loopback);
            byte[] name = TcpCalls.name(Syscall.GETSOCKNAME, socket);
            PacketCalls.send(socket, new byte[0], name);
            for (int look = 0; look < 3; look++) {
                assertArrayEquals(new int[]{0}, UdpCapture.peek(socket, AF_INET).lengths(), "alone, look " + look);
            }
            PacketCalls.send(socket, new byte[]{1, 2, 3}, name);
            PacketCalls.send(socket, new byte[]{4, 5}, name);
            for (int look = 0; look < 3; look++) {
                UdpCapture.Queue queue = UdpCapture.peek(socket, AF_INET);
                assertArrayEquals(new int[]{0, 3, 2}, queue.lengths(), "with others, look " + look);
                assertArrayEquals(new byte[]{1, 2, 3, 4, 5}, queue.bytes());
            }
        } finally {
            Files.close(socket);
        }
    }
}
