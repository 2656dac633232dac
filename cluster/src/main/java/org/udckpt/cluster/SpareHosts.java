package org.udckpt.cluster;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.launch.HostLayout;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Hosts that take the place of lost ones: named, or so many of those that the job could have. */
public final class SpareHosts {
    private SpareHosts() {}

    /**
     * Where only a number of spares was given, the last of the hosts become those, by their names in the settings.
     *
     * @param hosts {@code a:2,b:2,c}
     * @return those that are left for ranks
     */
    public static String aside(Settings settings, String hosts) {
        String text = settings.text(Option.SPARES);
        if (!text.matches("\\d{1,6}")) {
            return hosts;
        }
        List<String> all = Arrays.asList(hosts.split(",", -1));
        boolean asked = settings.value(Option.SPARES).origin().startsWith("--");
        int left = all.size() - Integer.parseInt(text);
        if (left < 1 && !asked) { // a file's, for all jobs: as many as this one can have
            left = 1;
        }
        if (left < 1) {
            throw new Failure(ExitCode.USAGE,
                    settings.value(Option.SPARES).origin() + " " + text + ": of " + all.size()
                            + (all.size() == 1 ? " host" : " hosts") + " ("
                            + hosts + ") no host is left for ranks; give more hosts, or fewer spares");
        }
        settings.flag(Option.SPARES, all.subList(left, all.size()).stream().map(host -> host.split(":", 2)[0])
                .collect(Collectors.joining(",")));
        return String.join(",", all.subList(0, left));
    }

    /** As {@link #aside(Settings, String)}. */
    public static HostLayout aside(Settings settings, HostLayout hosts) {
        return HostLayout.parse(aside(settings, hosts.format()));
    }

    /**
     * What makes no sense of them is said before anything is started.
     *
     * @param hosts that have ranks from the beginning; none: nobody knows yet
     * @throws Failure for one that is named twice, or has ranks
     */
    public static void check(Settings settings, Collection<String> hosts) {
        List<String> names = names(settings);
        String origin = settings.value(Option.SPARES).origin() + " " + settings.text(Option.SPARES);
        if (names.stream().distinct().count() != names.size()) {
            throw new Failure(ExitCode.USAGE, origin + ": a host appears twice");
        }
        names.stream().filter(hosts::contains).findFirst().ifPresent(taken -> {
            throw new Failure(ExitCode.USAGE, origin + ": " + taken + " has ranks of the job (--hosts): a spare "
                    + "starts without ranks");
        });
        if (!names.isEmpty() && settings.count(Option.RESTART_ON_FAILURE) == 0) {
            Messages.warn(origin + ": spares replace lost hosts when the job is restarted on failure: give "
                    + "--restart-on-failure too");
        }
    }

    /** The names of spare hosts. @throws Failure for a number of hosts that nobody has named */
    public static List<String> names(Settings settings) {
        String text = settings.text(Option.SPARES);
        if (text.matches("\\d{1,6}")) {
            throw new Failure(ExitCode.USAGE, settings.value(Option.SPARES).origin() + " " + text
                    + ": a number needs --hosts or a Slurm allocation, whose last hosts are the spares: give one of "
                    + "them, or the spares' names");
        }
        return Arrays.stream(text.split(",")).filter(host -> !host.isEmpty()).toList();
    }
}
