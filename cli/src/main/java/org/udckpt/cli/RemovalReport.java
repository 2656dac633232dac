package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.Obstacle;
import org.udckpt.image.catalogue.UserRemoval;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.store.CheckpointUsers;
import org.udckpt.store.tiers.PartHosts;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** What {@code remove} and {@code prune} say of what went and what stays. */
final class RemovalReport {
    private record Gone(String tier, UserRemoval.Removed one) {}

    private record Left(String tier, UserRemoval.Kept one) {}

    private final boolean dryRun;
    private final CheckpointUsers users;
    private final List<Gone> gone = new ArrayList<>();
    private final List<Left> left = new ArrayList<>();

    /** @param users know who holds a checkpoint */
    RemovalReport(boolean dryRun, CheckpointUsers users) {
        this.dryRun = dryRun;
        this.users = users;
    }

    void add(RemovalOptions.Place place, UserRemoval.Outcome outcome) {
        outcome.removed().forEach(one -> gone.add(new Gone(place.name(), one)));
        outcome.kept().forEach(one -> left.add(new Left(place.name(), one)));
    }

    /** The error of a checkpoint that must not go, with what to do about it. */
    Failure refusal(UserRemoval.Kept kept) {
        return new Failure(code(kept.why()), kept.entry().directory() + " is not removed: " + why(kept));
    }

    private static ExitCode code(Obstacle why) {
        return switch (why) {
            case Obstacle.Needed _,Obstacle.Link _ -> ExitCode.USAGE;
            case Obstacle.BeingWritten _,Obstacle.Held _ -> ExitCode.BUSY;
            case Obstacle.Unreadable unreadable -> Failure.of("", unreadable.why()).code();
        };
    }

    private String why(UserRemoval.Kept kept) {
        return switch (kept.why()) {
            case Obstacle.Needed needed -> names(needed.newer()) + (needed.newer().size() == 1 ? " is" : " are")
                    + " based on it, and cannot be restarted without it: remove "
                    + (needed.newer().size() == 1 ? "that" : "those") + " first";
            case Obstacle.BeingWritten(boolean alive) when alive -> "it is being written: wait until it is complete";
            case Obstacle.BeingWritten _ -> "its writer cannot be seen from here (another machine or container)"
                    + " and may be at work: remove it there";
            case Obstacle.Held _ -> users.of(kept.entry().directory()) + ": wait until this is done";
            case Obstacle.Unreadable unreadable -> unreadable.newer().name() + " is newer and may be based on it, but"
                    + " cannot be read here (" + unreadable.why().getMessage() + ")";
            case Obstacle.Link _ -> "it is a symbolic link, which is not followed: remove the link itself (rm), or give"
                    + " the directory that it leads to";
        };
    }

    private static String names(List<Catalogue.Entry> entries) {
        return String.join(", ", entries.stream().map(Catalogue.Entry::name).toList());
    }

    private long bytes() {
        return gone.stream().mapToLong(one -> one.one().bytes()).sum();
    }

    void print(boolean json) {
        if (json) {
            JsonOutput.print(json());
        } else {
            gone.forEach(this::print);
            System.out.printf("%s %s%n", dryRun ? "would free" : "freed", Durations.bytes(bytes()));
        }
        for (Left one : left) {
            String where = one.tier().isEmpty() ? "" : " in " + one.tier();
            Messages.info(one.one().entry().name() + where + " stays: " + why(one.one()));
        }
        gone.forEach(one -> tellParts(one.one().entry()));
    }

    private void print(Gone one) {
        System.out.printf("%s %s%s  %s%n", dryRun ? "would remove" : "removed", one.one().entry().name(),
                one.tier().isEmpty() ? "" : " from " + one.tier(), Durations.bytes(one.one().bytes()));
    }

    private ObjectNode json() {
        ObjectNode root = JsonOutput.document().put("dry_run", dryRun).put("freed_bytes", bytes());
        ArrayNode removed = root.putArray("removed");
        for (Gone one : gone) {
            Catalogue.Entry entry = one.one().entry();
            ObjectNode node = described(removed.addObject(), one.tier(), entry)
                    .put("state", entry.state().name().toLowerCase(Locale.ROOT))
                    .put("bytes", one.one().bytes());
            if (entry.onHosts()) {
                node.put("on_hosts", true);
            }
        }
        ArrayNode kept = root.putArray("kept");
        left.forEach(one -> described(kept.addObject(), one.tier(), one.one().entry()).put("reason", why(one.one())));
        return root;
    }

    private static ObjectNode described(ObjectNode node, String tier, Catalogue.Entry entry) {
        node.put("id", entry.name()).put("directory", entry.directory().toString());
        return tier.isEmpty() ? node : node.put("tier", tier);
    }

    /** What each host has of its own nodes is not reached from here. */
    private void tellParts(Catalogue.Entry entry) {
        if (!entry.onHosts()) {
            return;
        }
        HostParts parts =
                PartHosts.parts(entry.directory().getParent(), entry.manifest().labels().getOrDefault("job", ""));
        List<String> where = new ArrayList<>();
        for (Manifest.Node node : entry.manifest().nodes()) {
            where.add(node.host() + ":" + parts.part(node.index(), entry.id()));
        }
        Messages.warn("the parts of " + entry.name() + " on its hosts " + (dryRun ? "would stay" : "stay")
                + ", until the job runs again and copies a checkpoint"
                + " to the slow tier, or until they are removed there: " + String.join(", ", where));
    }
}
