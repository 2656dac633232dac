package org.udckpt.agent.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.fuzz.Quiet;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.WriteProgress;

/**
 * What is said to an agent's command socket. Each line has one answer, and none says that it is a defect of udckpt's.
 */
@Fuzzes({CommandServer.class, CommandRequest.class})
public final class CommandFuzz {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JobCommands.Whole JOB = new JobCommands.Whole() {
        @Override
        public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end,
                boolean detachDebuggers) {
            progress.say("taken");
            progress.writing(new WriteProgress(1, 2, 3, 4, 5, 6));
            return "ckpt-0001";
        }

        @Override
        public ObjectNode status() {
            return JSON.createObjectNode().put("name", "job");
        }
    };

    static {
        Quiet.begin();
    }

    private CommandFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "fuzz");
        Path socket = directory.resolve("command.sock");
        try (CommandServer server = CommandServer.start(socket, JOB);
                SocketChannel asker = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            asker.connect(UnixDomainSocketAddress.of(socket));
            write(asker, input);
            check(answers(asker));
        } finally {
            Files.deleteIfExists(socket);
            Files.delete(directory);
        }
    }

    private static void write(SocketChannel asker, byte[] input) throws IOException {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(input);
            while (bytes.hasRemaining()) {
                asker.write(bytes);
            }
            asker.shutdownOutput();
        } catch (IOException e) {
            // it has hung up on us, as it may
        }
    }

    private static byte[] answers(SocketChannel asker) throws IOException {
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        ByteBuffer some = ByteBuffer.allocate(1 << 16);
        while (asker.read(some.clear()) >= 0) {
            all.write(some.array(), 0, some.position());
        }
        return all.toByteArray();
    }

    private static void check(byte[] answers) throws IOException {
        for (Map<?, ?> answer : JSON.readerFor(Map.class).<Map<?, ?>>readValues(answers).readAll()) {
            if (Integer.valueOf(ExitCode.INTERNAL.value()).equals(answer.get("code"))) {
                throw new AssertionError(answer.toString());
            }
        }
    }
}
