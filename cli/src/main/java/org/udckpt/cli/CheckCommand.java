package org.udckpt.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.inspect.check.EnvironmentCheck;
import org.udckpt.inspect.check.Finding;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code udckpt check}: is this machine ready; 69 when something that jobs need is missing. */
@Command(name = "check", description = "Check whether this machine is ready: kernel, namespaces, ptrace, devices, "
        + "MPI, limits, storage.")
final class CheckCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Mixin
    private CommonOptions common;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        Settings settings = common.settings();
        List<Finding> findings = EnvironmentCheck.look(settings);
        boolean ready = findings.stream().noneMatch(finding -> finding.state() == Finding.State.MISSING);
        if (json) {
            ObjectNode root = JSON.createObjectNode().put("schema", 1).put("ready", ready);
            ArrayNode list = root.putArray("findings");
            findings.forEach(finding -> list.addObject().put("what", finding.what())
                    .put("state", finding.state().name().toLowerCase(java.util.Locale.ROOT))
                    .put("found", finding.found()).put("advice", finding.advice()));
            System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root));
        } else {
            findings.forEach(
                    finding -> System.out.printf("%-8s %-12s %s%s%n", finding.state(), finding.what(), finding.found(),
                            finding.advice().isEmpty() ? "" : "; " + finding.advice()));
        }
        return (ready ? ExitCode.DONE : ExitCode.UNSUPPORTED).value();
    }
}
