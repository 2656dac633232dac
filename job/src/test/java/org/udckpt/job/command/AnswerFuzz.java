package org.udckpt.job.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.runtime.JobFile;

/** What a command finds of a job that runs: the first byte says whether it is {@code job.json} or an agent's event. */
@Fuzzes({JobFile.class, WriteProgress.class, CommandClient.class})
public final class AnswerFuzz {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path DIRECTORY = directory();

    private AnswerFuzz() {}

    private static Path directory() {
        try {
            Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "fuzz");
            directory.resolve("job.json").toFile().deleteOnExit();
            directory.toFile().deleteOnExit();
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
                JobFile job = JobFile.read(DIRECTORY);
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
                event = JSON.readTree(new String(bytes, StandardCharsets.UTF_8)); // a line of text, as CommandClient has it
            } catch (JsonProcessingException e) {
                return; // as promised
            }
            WriteProgress.of(event).describe(JSON.createObjectNode());
        }
    }
}
