package org.udckpt.agent.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Which verbs each kind of job answers, and what a request means. */
class JobCommandsTest {
    private record Whole() implements JobCommands.Whole {
        @Override
        public String checkpoint(Progress progress, boolean wait, OptionalInt end, boolean detachDebuggers) {
            return "ckpt-0007 " + wait + " " + end + (detachDebuggers ? " detached" : "");
        }

        @Override
        public ObjectNode status() {
            return JsonNodeFactory.instance.objectNode().put("name", "whole");
        }
    }

    private record Part(String name, String job) implements JobCommands.OfUnit {
        @Override
        public ObjectNode status() {
            return JsonNodeFactory.instance.objectNode().put("name", name);
        }
    }

    private static ObjectNode answer(JobCommands commands, String line) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        commands.answer(CommandRequest.parse(line), _ -> {}, answer);
        return answer;
    }

    private static String id(String line) {
        return answer(new Whole(), line).path("id").asText();
    }

    private static Failure refused(JobCommands commands, String line) {
        Failure failure = assertThrows(Failure.class, () -> answer(commands, line));
        assertEquals(ExitCode.USAGE, failure.code());
        return failure;
    }

    @Test
    void aWholeJobTakesCheckpoints() {
        String ending = "{\"verb\":\"checkpoint\",\"wait\":false,\"kill\":true,\"code\":256}";
        assertEquals("ckpt-0007 true OptionalInt.empty", id("{\"verb\":\"checkpoint\"}"));
        assertEquals("ckpt-0007 false OptionalInt[256]", id(ending));
        assertEquals("ckpt-0007 true OptionalInt.empty detached",
                id("{\"verb\":\"checkpoint\",\"detach_debuggers\":true}"));
        assertEquals("whole", answer(new Whole(), "{\"verb\":\"status\"}").path("job").path("name").asText());
    }

    @Test
    void aPartOfOneNamesTheWhole() {
        Part part = new Part("job.2", "job");
        assertEquals("job.2", answer(part, "{\"verb\":\"status\"}").path("job").path("name").asText());
        String message = refused(part, "{\"verb\":\"checkpoint\"}").getMessage();
        assertTrue(message.contains("job.2 is a part of job job"), message);
        assertTrue(message.contains("'udckpt checkpoint job'"), message);
    }

    @Test
    void whatNoJobAnswersIsUsage() {
        for (String line : new String[]{"{\"verb\":\"halt\"}", "{}", "[]", "7", "{\"verb\":7}"}) {
            Failure failure = refused(new Whole(), line);
            assertTrue(failure.getMessage().contains("the agent does not know the command '"), failure.getMessage());
            assertFalse(failure.getMessage().contains("defect"), failure.getMessage());
        }
        assertTrue(refused(new Whole(), "{\"verb\":").getMessage().startsWith("malformed request: "));
    }
}
