package org.udckpt.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.image.ImageNames;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.UserRemoval;
import org.udckpt.image.key.ImageKey;
import org.udckpt.store.CheckpointUsers;
import org.udckpt.store.ImageLocation;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt remove}: one checkpoint goes, in all tiers that are named. */
@Command(name = "remove", description = "Remove a checkpoint, unless a newer one is based on it or it is in use.")
final class RemoveCommand implements Callable<Integer> {
    private static final Pattern NAMED = Pattern.compile("(?s)(?:(.*)/)?(ckpt-\\d{4,18})/*");

    @Mixin
    private RemovalOptions options;

    @Option(names = "--with-base",
            description = "also remove the checkpoints that it is based on, if no other checkpoint needs them")
    private boolean withBase;

    @Parameters(paramLabel = "DIR/ID", description = "a checkpoint in a directory, or in fast=DIR,slow=DIR")
    private String image;

    /** Where it is. */
    private record Found(RemovalOptions.Place place, UserRemoval removal) {}

    @Override
    public Integer call() {
        Settings settings = options.settings();
        Matcher named = NAMED.matcher(image);
        OptionalLong id = named.matches() ? ImageNames.id(java.nio.file.Path.of(named.group(2))) : OptionalLong.empty();
        if (id.isEmpty()) {
            throw new Failure(ExitCode.USAGE, "'" + image + "' is not a checkpoint: add its id, as in"
                    + " DIR/ckpt-0001 ('udckpt list' shows them; 'udckpt prune' removes all but the newest)");
        }
        ImageKey key = options.key(settings);
        String directory = named.group(1) == null ? "." : named.group(1).isEmpty() ? "/" : named.group(1);
        List<Found> found = find(directory, named.group(2), key, settings);
        CheckpointUsers users = new CheckpointUsers(settings);
        RemovalReport report = new RemovalReport(options.dryRun(), users);
        for (Found one : found) { // before anything goes in any tier
            UserRemoval.Outcome planned = remove(one, id.getAsLong(), true);
            refuse(planned, id.getAsLong(), report);
            if (options.dryRun()) {
                report.add(one.place(), planned);
            }
        }
        if (!options.dryRun()) {
            for (Found one : found) {
                UserRemoval.Outcome outcome = remove(one, id.getAsLong(), false);
                refuse(outcome, id.getAsLong(), report);
                report.add(one.place(), outcome);
            }
        }
        report.print(options.json());
        return ExitCode.DONE.value();
    }

    private static void refuse(UserRemoval.Outcome outcome, long id, RemovalReport report) {
        outcome.kept().stream().filter(kept -> kept.entry().id() == id).findFirst().ifPresent(kept -> {
            throw report.refusal(kept);
        });
    }

    private UserRemoval.Outcome remove(Found one, long id, boolean dryRun) {
        try {
            return one.removal().remove(id, withBase, dryRun);
        } catch (IOException e) {
            throw RemovalOptions.failed("removing " + ImageNames.directory(id), one.place(), e);
        }
    }

    private static List<Found> find(String directory, String name, ImageKey key, Settings settings) {
        List<Found> found = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (RemovalOptions.Place place : RemovalOptions.places(directory, settings)) {
            List<String> names =
                    ImageLocation.list(place.directory(), key).stream().map(Catalogue.Entry::name).toList();
            if (names.contains(name)) {
                found.add(new Found(place, RemovalOptions.removal(place, key, settings)));
            }
            names.stream().filter(other -> !others.contains(other)).forEach(others::add);
        }
        if (found.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND,
                    "no " + name + " in " + directory + "; there "
                            + (others.isEmpty() ? "is none" : "are " + String.join(", ", others)));
        }
        return found;
    }
}
