package org.udckpt.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.Callable;
import org.udckpt.agent.command.CommandClient;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;
import org.udckpt.support.runtime.RuntimeDirectory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt checkpoint}: prints the id when the checkpoint is durable; phases and times on standard error. */
@Command(name = "checkpoint", description = "Take a checkpoint of a running job.")
final class CheckpointCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(names = "--no-wait", description = "return when the job runs again, before its image is written")
    private boolean noWait;

    @Option(names = "--then", paramLabel = "kill", description = "what to do when the checkpoint is durable: kill "
            + "ends the job. The job stays stopped while the image is written, and continues if the checkpoint fails")
    private String then;

    @Option(names = "--detach-debuggers", description = "processes of the job that trace others of it (strace, gdb) "
            + "lose them, and say so; default: refuse the checkpoint")
    private boolean detachDebuggers;

    @Parameters(paramLabel = "JOB", description = "the job's name")
    private String job;

    @Override
    @SuppressWarnings("try") // the bar is taken away before the id is printed, and in any case
    public Integer call() {
        Settings settings = common.settings();
        if (then != null && !then.equals("kill")) {
            throw new Failure(ExitCode.USAGE, "--then " + then + ": the only allowed value is kill");
        }
        if (then != null && noWait) {
            throw new Failure(ExitCode.USAGE, "--then kill has to wait for the durable checkpoint: leave out "
                    + "--no-wait");
        }
        try (CommandClient client = CommandClient.connect(RuntimeDirectory.find(settings, job));
                WriteView view = new WriteView()) {
            JsonNode answer = client.ask(
                    client.request("checkpoint").put("kill", then != null).put("wait", !noWait)
                            .put("detach_debuggers", detachDebuggers),
                    event -> show(event, view));
            view.close();
            System.out.println(answer.path("id").asText());
            if (then != null) {
                client.awaitEnd(); // so that the job's name is free again when this command returns
            }
            return ExitCode.DONE.value();
        }
    }

    private static void show(JsonNode event, WriteView view) {
        if (event.path("event").asText().equals("write")) {
            view.show(WriteProgress.of(event));
        } else {
            view.close();
            Messages.info(event.path("message").asText());
        }
    }
}
