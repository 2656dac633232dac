package org.udckpt.agent.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.OptionalInt;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * A line that was sent to command.sock.
 *
 * @param verb what is asked for; empty: the line names nothing
 * @param durable of a checkpoint: the answer waits until it is
 * @param end of a checkpoint: ends the job after the commit, with this code
 * @param detachDebuggers of a checkpoint: tracers that are processes of the job let go of what they trace
 */
record CommandRequest(String verb, boolean durable, OptionalInt end, boolean detachDebuggers) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** @throws Failure USAGE: it is not JSON */
    static CommandRequest parse(String line) {
        JsonNode node;
        try {
            node = JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new Failure(ExitCode.USAGE, "malformed request: " + e.getOriginalMessage(), e);
        }
        OptionalInt end = node.path("kill").asBoolean(false)
                ? OptionalInt.of(node.path("code").asInt(ExitCode.DONE.value())) : OptionalInt.empty();
        return new CommandRequest(node.path("verb").asText(), node.path("wait").asBoolean(true), end,
                node.path("detach_debuggers").asBoolean(false));
    }
}
