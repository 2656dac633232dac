package org.udckpt.job.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.Callable;
import org.udckpt.job.command.CommandClient;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.runtime.RuntimeDirectory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt checkpoint}: prints the id when the checkpoint is durable; phases and times on standard error. */
@Command(name = "checkpoint", description = "Take a checkpoint of a running job.")
final class CheckpointCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Option(names = "--no-wait", description = "return when the job runs again, while its image is being written")
    private boolean noWait;

    @Option(names = "--then", paramLabel = "kill", description = "what to do when it is durable: kill ends the job, which stands still from the copy on until then, and goes on if the checkpoint fails")
    private String then;

    @Parameters(paramLabel = "JOB", description = "the job's name")
    private String job;

    @Override
    @SuppressWarnings("try") // the bar is taken away before the id is printed, and in any case
    public Integer call() {
        Settings settings = common.settings();
        if (then != null && !then.equals("kill")) {
            throw new Failure(ExitCode.USAGE, "--then " + then + ": the only thing that can follow is kill");
        }
        if (then != null && noWait) {
            throw new Failure(ExitCode.USAGE, "--then kill waits for a durable checkpoint: leave out --no-wait");
        }
        try (CommandClient client = CommandClient.connect(RuntimeDirectory.find(settings, job)); WriteView view = new WriteView()) {
            JsonNode answer = client.ask(client.request("checkpoint").put("kill", then != null).put("wait", !noWait),
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
