package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.address.Gid;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;

@Timeout(60)
class MessageCodecTest {
    private static final VerbsAddress VIRTUAL = new VerbsAddress(0xbfff, new Gid(-2, 3), 0xfffffe);
    private static final VerbsAddress REAL = new VerbsAddress(1, new Gid(4, -5), 1);

    @Test
    void everyMessageSurvivesTheWire() throws IOException {
        List<Message> all = List.of(
                new Message.Identify(1, -2, 3), new Message.Hello(2, 3, -1, 5, 1, 963, 4, 7, -1),
                new Message.Locate(16), new Message.Located(17, 0, 48000, 4, 1024, 65534, 8191), new Message.Quiesce(3),
                new Message.Quiesced(4, 0, List.of(3, 4, 5),
                        List.of(new Message.OwnedRange(0x7fff00000000L, 0x7fff00001000L))),
                new Message.Quiesced(4, 2, List.of(), List.of()),
                new Message.Settle(17), new Message.Settled(18, 0, 3), new Message.Connect(19),
                new Message.Connected(20, 2, "queue pair"),
                new Message.Drain(5), new Message.Drained(6, 0, 17), new Message.Resume(7), new Message.Resumed(8, 2),
                new Message.Rebuild(9, 2, 0xbffe, 2, 2048, 6143, Long.MAX_VALUE, new Gid(1, 2), "soft0", "/dev/shm/x"),
                new Message.Rebuilt(10, 2, "queue pair 0x000800: Address already in use"),
                new Message.Registered(12, 0, 0x10000), new Message.Resolve(13, true, VIRTUAL),
                new Message.Resolved(14, 1),
                new Message.Register(11, VIRTUAL.qpn(), VIRTUAL, REAL, Transport.RC),
                new Message.Unregister(15, VIRTUAL),
                new Message.Unregistered(16, 1),
                new Message.Host(21, true, 65535, List.of(new Gid(1, 2), Gid.ZERO, new Gid(-3, 4))),
                new Message.FindHost(22, false, new Gid(5, 6)), new Message.Hosted(23, 1, 48000),
                new Message.PeerKeys(24, 7), new Message.TellKey(25, 8191, 0xf0000001, -2),
                new Message.FindKey(26, 1 << 24, -1), new Message.Keyed(27, 2, 0x80000000));
        for (Message message : all) {
            assertEquals(message, MessageCodec.decode(MessageCodec.encode(message).clear()));
        }
    }

    @Test
    void nonsenseIsRefused() {
        ByteBuffer unknown = MessageCodec.encode(new Message.Quiesce(1)).putInt(4, 99).clear();
        assertThrows(IOException.class, () -> MessageCodec.decode(unknown));
        ByteBuffer lying =
                MessageCodec.encode(new Message.Quiesced(1, 0, List.of(1), List.of())).putInt(24, 1000).clear();
        assertThrows(IOException.class, () -> MessageCodec.decode(lying));
        assertThrows(IllegalArgumentException.class, () -> MessageCodec.encode(
                new Message.Rebuild(9, 2, 1, 1, 1, 1, 1, Gid.ZERO, "d".repeat(64), "/")));
    }
}
