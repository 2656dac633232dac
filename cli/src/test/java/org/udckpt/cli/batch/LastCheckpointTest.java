package org.udckpt.cli.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.agent.command.CommandServer;
import org.udckpt.agent.command.JobCommands;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * What becomes of a turn whose last checkpoint meets trouble; the job is a command socket alone. BatchTest has real
 * ones.
 */
@Timeout(90)
class LastCheckpointTest {
    private static final String NAME = "job";
    private static final int WANTS_ANOTHER_TURN = 75;
    @TempDir
    Path temp;

    private final BlockingQueue<Integer> ends = new ArrayBlockingQueue<>(100);

    private CommandServer job(Supplier<String> answer) throws Exception {
        Path runtime = Files.createDirectory(temp.resolve(NAME));
        Files.writeString(runtime.resolve("job.json"), "{}");
        return CommandServer.start(runtime.resolve("command.sock"), new JobCommands.Whole() {
            @Override
            public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end,
                    boolean detachDebuggers) {
                assertTrue(ends.offer(end.orElseThrow()));
                return answer.get();
            }

            @Override
            public ObjectNode status() {
                return JsonNodeFactory.instance.objectNode();
            }
        });
    }

    private static Settings settings(String runtime) {
        return Settings.load().flag(Option.RUNTIME, runtime);
    }

    private static LastCheckpoint of(Settings settings) {
        return new LastCheckpoint(settings, NAME, Optional.empty(), () -> false);
    }

    private int nextEnd() throws InterruptedException {
        Integer end = ends.poll(60, TimeUnit.SECONDS);
        assertTrue(end != null, "no checkpoint was asked for");
        return end;
    }

    @Test
    void aJobThatItEndedWantsAnotherTurnAlsoWhenTheAnswerIsLost() throws Exception {
        try (CommandServer _ = job(() -> {
            throw new Failure(ExitCode.IO, "the answer is lost");
        })) {
            LastCheckpoint last = of(settings(temp.toString()));
            last.warned();
            assertEquals(WANTS_ANOTHER_TURN, last.ended(nextEnd()));
        }
    }

    @Test
    void aJobThatEndedByItselfWantsNone() throws Exception {
        try (CommandServer _ = job(() -> {
            throw new Failure(ExitCode.UNSUPPORTED, "it is connected to somebody outside");
        })) {
            LastCheckpoint last = of(settings(temp.toString()));
            last.warned();
            nextEnd();
            assertEquals(0, last.ended(0));
        }
    }

    /**
     * Not only what is expected to fail is tried again: a name with a NUL is no path, which is an unchecked exception.
     */
    @Test
    void whateverItFailsWithItIsTriedAgain() throws Exception {
        try (CommandServer _ = job(() -> "ckpt-0001")) {
            Settings settings = settings("\0");
            LastCheckpoint last = of(settings);
            last.warned();
            Thread.sleep(200); // so that the first attempt is over: were it not, this would pass all the same
            settings.flag(Option.RUNTIME, temp.toString());
            nextEnd();
            assertEquals(WANTS_ANOTHER_TURN, last.ended(0));
        }
    }
}
