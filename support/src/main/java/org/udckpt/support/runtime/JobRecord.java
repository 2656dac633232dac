package org.udckpt.support.runtime;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;

/**
 * {@code job.json} of a runtime directory: who runs the job, for other udckpt commands to find.
 *
 * @param imageDirectory where its checkpoints go
 * @param agentStart start time of the agent in clock ticks since boot (proc(5), stat field 22): tells a reused pid
 * @param shepherdPid 0 until it runs
 * @param generation 0 in a job's first incarnation
 */
public record JobRecord(String name, String imageDirectory, int ranks, List<String> program, long agentPid,
        long agentStart,
        long shepherdPid, long shepherdStart, int generation) {
    /** To make it takes some 30 ms of a young JVM, which who only writes does not need. */
    private static final class Reading {
        static final ObjectMapper JSON = new ObjectMapper();
    }

    /** @throws IOException also where it is none, or says less than a job's */
    public static JobRecord read(Path directory) throws IOException {
        Path file = directory.resolve("job.json");
        JobRecord job = Reading.JSON.readValue(file.toFile(), JobRecord.class);
        if (job == null || job.name == null || job.imageDirectory == null || job.program == null
                || job.program.stream().anyMatch(Objects::isNull)) {
            throw new IOException(file + " does not name its job");
        }
        return job;
    }

    /** Replaces the file at once: a reader sees the old or the new one. */
    public void write(Path directory) throws IOException {
        Path temporary = directory.resolve("job.json.tmp");
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
            write(json);
        }
        OwnFile.write(temporary, text.toByteArray());
        Files.move(temporary, directory.resolve("job.json"), StandardCopyOption.ATOMIC_MOVE);
    }

    private void write(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", name);
        json.writeStringField("imageDirectory", imageDirectory);
        json.writeNumberField("ranks", ranks);
        json.writeArrayFieldStart("program");
        for (String word : program) {
            json.writeString(word);
        }
        json.writeEndArray();
        json.writeNumberField("agentPid", agentPid);
        json.writeNumberField("agentStart", agentStart);
        json.writeNumberField("shepherdPid", shepherdPid);
        json.writeNumberField("shepherdStart", shepherdStart);
        json.writeNumberField("generation", generation);
        json.writeEndObject();
    }

    public boolean agentAlive() {
        return ProcessTimes.isAlive(agentPid, agentStart);
    }

    public boolean shepherdAlive() {
        return shepherdPid != 0 && ProcessTimes.isAlive(shepherdPid, shepherdStart);
    }
}
