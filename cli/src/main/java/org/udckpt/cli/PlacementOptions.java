package org.udckpt.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Stack;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.udckpt.cluster.Placement;
import org.udckpt.cluster.SpareHosts;
import org.udckpt.cluster.Unit;
import org.udckpt.launch.HostLayout;
import org.udckpt.lifecycle.lead.Placer;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags of {@code restart} about where ranks go. */
final class PlacementOptions implements Placer {
    private static final String YES = "yes", NO = "no";

    @Option(names = "--hosts", paramLabel = "a:2,b:2", description = "hosts and the most ranks that each takes; "
            + "names that are not machine names are hosts simulated on this machine; default: as before")
    private String hosts;

    @Option(names = "--move-host", paramLabel = "OLD=NEW,...", description = "with --starter: move the ranks of host "
            + "OLD to host NEW; all others stay")
    private String map;

    @Option(names = "--keep-together", arity = "0..1", paramLabel = "yes|no", parameterConsumer = IfAnswer.class,
            description = "with --starter: keep ranks of one host on one host, because they share process ids, a LID "
                    + "and perhaps memory; 'no' is refused where they do")
    private String together = YES;

    /** As {@link CheckpointOptions#set}. */
    boolean set(String option, String value) {
        if (option.equals("--hosts")) {
            hosts = value;
            return true;
        }
        return false;
    }

    /** Whether nobody says where ranks go. */
    boolean silent() {
        return hosts == null && map == null && together.equals(YES);
    }

    /** @param several whether the job is on several hosts */
    void check(boolean several) {
        if (!several && (map != null || !together.equals(YES))) {
            throw new Failure(ExitCode.USAGE, (map != null ? "--move-host" : "--keep-together")
                    + " applies only to jobs on several hosts: give --starter too."
                    + " Without it all ranks stay on this machine");
        }
        if (map != null && hosts != null) {
            throw new Failure(ExitCode.USAGE, "--move-host and --hosts both place ranks: give one of them");
        }
    }

    /** The last of the hosts become spares, if so many are wanted. */
    void setSparesAside(Settings settings) {
        hosts = hosts == null ? null : SpareHosts.aside(settings, hosts);
    }

    /** The hosts that are named; null: none. */
    HostLayout named() {
        return hosts == null ? null : HostLayout.parse(hosts);
    }

    /** The hosts that one process simulates; null: as before. */
    HostLayout simulated() {
        return hosts == null ? null : HostLayout.parse(hosts, null);
    }

    @Override
    public List<Unit> place(List<Unit> units, Function<Unit, String> ties) {
        if (together.equals(NO)) {
            Placement.refuseParting(units, ties);
        }
        return map != null ? Placement.mapped(map, units) : hosts != null ? Placement.over(hosts, units, ties) : units;
    }

    /** The next word is this option's when it is an answer: a directory is the command's own argument. */
    static final class IfAnswer implements IParameterConsumer {
        /** Neither a flag nor a path. */
        private static final Pattern WORD = Pattern.compile("\\w+");

        @Override
        public void consumeParameters(Stack<String> words, ArgSpec option, CommandSpec command) {
            boolean answer = !words.isEmpty() && (words.peek().equals(YES) || words.peek().equals(NO));
            if (!answer && words.size() > 1 && WORD.matcher(words.peek()).matches()
                    && !Files.exists(Path.of(words.peek()))) { // a directory may come later
                throw new ParameterException(command.commandLine(),
                        "--keep-together takes yes or no, not '" + words.peek() + "'");
            }
            option.setValue(answer ? words.pop() : YES);
        }
    }
}
