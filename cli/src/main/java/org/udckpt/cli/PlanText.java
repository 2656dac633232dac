package org.udckpt.cli;

import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.inspect.plan.Move;
import org.udckpt.inspect.plan.RestartPlan;
import org.udckpt.launch.DeviceChoice;
import org.udckpt.process.files.RolledBack;
import org.udckpt.support.report.Durations;

/** {@code udckpt restart --plan} for people. */
final class PlanText {
    private static final int MOST_FILES = 100;

    private PlanText() {}

    static void print(RestartPlan plan) {
        System.out.printf("checkpoint %s, %s: its tables can be read%s; 'udckpt verify' reads all of it%n",
                plan.checkpoint(), Durations.bytes(plan.bytes()),
                plan.nodes() > 1 ? ", of all " + plan.nodes() + " hosts" : "");
        System.out.printf("job        %s, incarnation %d%n", plan.job(), plan.incarnation());
        for (Move move : plan.moves()) {
            System.out.printf("%-10s %s%n", move.ranks(),
                    move.from().equals(move.to()) ? (move.count() == 1 ? "stays on " : "stay on ") + move.to()
                            : "from " + move.from() + " to " + move.to());
            System.out.printf("           %s -> %s, %s; %d queue pairs get other numbers%n", before(move), after(move),
                    move.device(), move.queuePairs());
        }
        if (plan.files().isEmpty() && plan.unseen().isEmpty()) {
            System.out.println("files      no change since the checkpoint, as far as this host sees them");
        } else {
            System.out.printf("files      %d would be restored, as this host sees them:%n", plan.files().size());
            plan.files().stream().limit(MOST_FILES)
                    .forEach(change -> System.out.println("           " + line(change.file())));
            if (plan.files().size() > MOST_FILES) {
                System.out.printf("           ... and %d more; --json has all%n", plan.files().size() - MOST_FILES);
            }
        }
        plan.unseen().forEach(unit -> System.out.printf("           files of %s cannot be checked from this host: "
                + "%s%n", unit.host(), unit.why()));
        System.out.println("nothing was started or changed");
    }

    private static String before(Move move) {
        return move.soft() ? lids(move.lids()) : "a real device's LID";
    }

    private static String after(Move move) {
        return switch (move.device()) {
            case DeviceChoice.SOFT -> move.newLids().isEmpty() ? "another, which the host chooses"
                    : lids(move.newLids());
            case DeviceChoice.AUTO -> "another, of the device that the host chooses";
            default -> "the device's own";
        };
    }

    private static String lids(List<Integer> lids) {
        return "LID " + lids.stream().map("0x%04x"::formatted).collect(Collectors.joining(", "));
    }

    private static String line(RolledBack file) {
        return switch (file.what()) {
            case REPLACED -> file.path() + ": now " + Durations.bytes(file.fromSize()) + ", then "
                    + Durations.bytes(file.toSize());
            case PUT_BACK -> file.path() + ": gone now, then " + Durations.bytes(file.toSize());
            case MADE_SINCE -> file.path() + ": made after the checkpoint, would be removed";
            case CUT -> file.path() + ": cut back from " + Durations.bytes(file.fromSize()) + " to "
                    + Durations.bytes(file.toSize());
        };
    }
}
