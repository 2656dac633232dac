package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.layout.Layout;

/**
 * An agent that sends messages which are too short, too long or not ended: the library says so and acts on none of
 * their bytes.
 */
@Timeout(60)
class BadMessageTest {
    @TempDir
    Path scratch;

    private Node node;
    private UdClient client;
    private ServerSocketChannel server;
    private SocketChannel control;
    private String address;

    /** The test itself is the agent of a process with an open device. */
    @BeforeEach
    void start() throws Exception {
        AddressMap map = new AddressMap();
        node = new Node(scratch.resolve("run0"), map, 1);
        HostAddress host = map.newHost("a");
        node.server.close();
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(node.directory.resolve("agent.sock")));
        client = new UdClient(0, node.environment(host));
        Future<String> opening = aside(() -> client.ask("open"));
        control = accept();
        SocketChannel requests = accept();
        requests.write(MessageCodec.encode(new Message.Identify(0, Layout.LAYOUT_HASH, 0)));
        assertInstanceOf(Message.Hello.class, read(requests));
        requests.write(MessageCodec
                .encode(new Message.Located(read(requests).cookie(), Layout.STATUS_UNKNOWN, 0, 0, 0, 0, 0)));
        Message.Register register = assertInstanceOf(Message.Register.class, read(requests));
        requests.write(MessageCodec
                .encode(new Message.Registered(register.cookie(), Layout.STATUS_OK, register.real().qpn())));
        address = opening.get(20, TimeUnit.SECONDS);
        assertTrue(address.startsWith("address " + host.lid() + " "), address);
        control.write(MessageCodec.encode(new Message.Identify(1, Layout.LAYOUT_HASH, 0)));
        assertInstanceOf(Message.Hello.class, read(control));
    }

    @AfterEach
    void stop() throws Exception {
        client.close();
        server.close();
        node.close();
    }

    private SocketChannel accept() throws Exception {
        return aside(server::accept).get(20, TimeUnit.SECONDS);
    }

    /** On a thread of its own: the common pool may have only one. */
    private static <T> Future<T> aside(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    private static Message read(SocketChannel channel) throws IOException {
        return new MessageChannel(channel).read();
    }

    /** The same message with another length, in the header too. */
    private static ByteBuffer resized(Message message, int length) {
        ByteBuffer whole = MessageCodec.encode(message);
        byte[] bytes = Arrays.copyOf(whole.array(), length);
        return ByteBuffer.wrap(bytes).order(whole.order()).putInt(Layout.MessageHeader.LENGTH, length).clear();
    }

    private Message.Rebuild rebuild() {
        return new Message.Rebuild(7, 1, 9, 1, 2000, 3000, 0, Gid.ZERO, "soft0", node.directory.toString());
    }

    @ParameterizedTest
    @ValueSource(
            ints = {Layout.MSG_IDENTIFY, Layout.MSG_QUIESCE, Layout.MSG_DRAIN, Layout.MSG_RESUME, Layout.MSG_REBUILD})
    void aMessageOfAnotherLengthEndsTheConnectionAndNothingElse(int type) throws Exception {
        Message message = switch (type) {
            case Layout.MSG_IDENTIFY -> new Message.Identify(7, Layout.LAYOUT_HASH, 0);
            case Layout.MSG_QUIESCE -> new Message.Quiesce(7);
            case Layout.MSG_DRAIN -> new Message.Drain(7);
            case Layout.MSG_RESUME -> new Message.Resume(7);
            default -> rebuild();
        };
        // so that a message of the whole length was there before
        control.write(MessageCodec.encode(new Message.Quiesce(6)));
        assertEquals(6, assertInstanceOf(Message.Quiesced.class, read(control)).cookie());
        control.write(
                resized(message, type == Layout.MSG_REBUILD ? Layout.MsgRebuild.SIZE - 8 : Layout.MessageHeader.SIZE));
        assertTheProcessGoesOn();
    }

    @Test
    void aMessageThatIsTooLongEndsTheConnection() throws Exception {
        control.write(resized(new Message.Resume(7), 64));
        assertTheProcessGoesOn();
    }

    /** The library gives its agent up, opens the gate and closes nothing of the job's. */
    private void assertTheProcessGoesOn() throws Exception {
        assertEquals(address, client.ask("address"), "the gate is open and the device as it was");
        Future<Message> nothing = aside(() -> read(control));
        ExecutionException end = assertThrows(ExecutionException.class, () -> nothing.get(20, TimeUnit.SECONDS),
                "the connection is closed");
        assertInstanceOf(IOException.class, end.getCause(), end.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"device", "runtime_dir"})
    void aTextWithoutAnEndIsRefusedByName(String field) throws Exception {
        ByteBuffer order = MessageCodec.encode(rebuild());
        int start = field.equals("device") ? Layout.MsgRebuild.DEVICE : Layout.MsgRebuild.RUNTIME_DIR;
        int bytes = field.equals("device") ? Layout.MsgRebuild.DEVICE_BYTES : Layout.MsgRebuild.RUNTIME_DIR_BYTES;
        Arrays.fill(order.array(), start, start + bytes, (byte) 'x');
        control.write(MessageCodec.encode(new Message.Quiesce(6)));
        read(control);
        control.write(order.clear());
        Message.Rebuilt answer = assertInstanceOf(Message.Rebuilt.class, read(control));
        assertEquals(7, answer.cookie());
        assertEquals(Layout.STATUS_FAILED, answer.status());
        assertEquals("REBUILD: the text " + field + " is not terminated", answer.error());
        control.write(MessageCodec.encode(new Message.Resume(8)));
        assertEquals(8, assertInstanceOf(Message.Resumed.class, read(control)).cookie());
        assertEquals(address, client.ask("address"));
    }
}
