package org.udckpt.agent.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.support.report.WriteProgress;
import org.udckpt.support.runtime.JobRecord;

/** What a command finds of a job that runs: the first byte says whether it is {@code job.json} or an agent's event. */
@Fuzzes({JobRecord.class, WriteProgress.class, CommandClient.class})
public final class AnswerFuzz {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path DIRECTORY = directory();

    private AnswerFuzz() {}

    private static Path directory() {
        try {
            Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "fuzz");
            directory.toFile().deleteOnExit(); // the last that was said goes first
            directory.resolve("job.json").toFile().deleteOnExit();
            return directory;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        if ((input[0] & 1) == 0) {
            Files.write(DIRECTORY.resolve("job.json"), bytes);
            try {
                JobRecord job = JobRecord.read(DIRECTORY);
                job.agentAlive();
                job.shepherdAlive();
                job.program().size();
                job.name().length();
                job.imageDirectory().length();
            } catch (IOException e) {
                // as promised
            }
        } else {
            JsonNode event;
            try {
                // a line of text, as CommandClient has it
                event = JSON.readTree(new String(bytes, StandardCharsets.UTF_8));
            } catch (JsonProcessingException e) {
                return; // as promised
            }
            WriteProgress.of(event).describe(JSON.createObjectNode());
        }
    }
}
