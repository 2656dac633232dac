package org.udckpt.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.catalogue.VerifiedMark;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.Tiers;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt list}: the checkpoints of a directory. */
@Command(name = "list", description = "List the checkpoints in a directory.")
final class ListCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    @Parameters(paramLabel = "DIR", description = "the job's checkpoint directory, or its tiers fast=DIR,slow=DIR")
    private String directory;

    @Override
    public Integer call() throws IOException {
        ImageKey key = encrypted.key(common.settings());
        List<Row> rows = rows(key);
        rows.stream().map(row -> row.entry().problem())
                .filter(problem -> key.missing() != null && problem instanceof ImageError.NoKey).findFirst()
                .ifPresent(problem -> {
                    throw Failure.of("listing the checkpoints of " + directory, problem); // nothing can be said of any
                });
        if (json) {
            ObjectNode root = JSON.createObjectNode().put("schema", 1);
            ArrayNode list = root.putArray("checkpoints");
            for (Row row : rows) {
                ObjectNode node = withPhases(row.entry(), key);
                if (!row.places().isEmpty()) {
                    ObjectNode tiers = node.putObject("tiers");
                    row.places().forEach(place -> tiers.put(place.tier().name(), stateOf(place.entry())));
                }
                list.add(node);
            }
            System.out.println(JSON.writerWithDefaultPrettyPrinter().writeValueAsString(root));
        } else {
            for (Row row : rows) {
                print(row.entry(), row.places().isEmpty() ? row.entry().onHosts() ? "  its hosts have the parts" : ""
                        : "  in " + String.join(", ", row.places().stream().map(ListCommand::place).toList()));
            }
        }
        return ExitCode.DONE.value();
    }

    /**
     * A line of the list.
     *
     * @param entry the one that would be read
     * @param places in which tiers it is; empty for those of one directory
     */
    private record Row(Catalogue.Entry entry, List<TieredCatalogue.Place> places) {}

    private List<Row> rows(ImageKey key) {
        Optional<Tiers> tiers = Tiers.parse(directory);
        return tiers.isPresent()
                ? ImageLocation.list(tiers.get(), key).stream()
                        .map(entry -> new Row(entry.best().entry(), entry.places())).toList()
                : ImageLocation.list(ImageLocation.directory(directory), key).stream()
                        .map(entry -> new Row(entry, List.of())).toList();
    }

    /** {@code fast}; {@code slow (incomplete)}; {@code local (its hosts have the parts)}. */
    private static String place(TieredCatalogue.Place place) {
        Catalogue.Entry entry = place.entry();
        return place.tier().name()
                + (entry.state() == Catalogue.State.COMPLETE ? entry.onHosts() ? " (its hosts have the parts)" : ""
                        : entry.inProgress() ? " (being written)" : " (" + stateOf(entry) + ")");
    }

    private static String stateOf(Catalogue.Entry entry) {
        return entry.state().name().toLowerCase(Locale.ROOT);
    }

    /** A checkpoint whose phases cannot be read is damaged, and listed so. */
    private static ObjectNode withPhases(Catalogue.Entry entry, ImageKey key) throws IOException {
        ObjectNode node = JSON.createObjectNode();
        describe(node, entry);
        if (entry.onHosts()) {
            node.put("on_hosts", true);
        } else if (entry.manifest() != null) {
            try (CheckpointReader reader = CheckpointReader.open(entry.directory(), key)) {
                PhasesJson.describe(node, reader);
            } catch (ImageError damaged) {
                node.put("state", "corrupt").put("problem", damaged.getMessage());
            }
        }
        return node;
    }

    static void describe(ObjectNode node, Catalogue.Entry entry) throws IOException {
        node.put("id", entry.name()).put("state", stateOf(entry));
        Manifest manifest = entry.manifest();
        if (manifest == null) {
            node.put("problem", entry.problem().getMessage()).put("in_progress", entry.inProgress());
            return;
        }
        ArrayNode nodes = node.putArray("nodes");
        manifest.nodes().forEach(one -> nodes.addObject().put("node", one.index()).put("host", one.host()));
        node.put("ranks", manifest.ranks()).put("bytes", manifest.bytes()).put("stored_bytes", manifest.storedBytes());
        node.put("taken_at", manifest.takenAt().toString());
        node.putObject("stop_ms").put("max", manifest.stopMaxNanos() / 1e6).put("median",
                manifest.stopMedianNanos() / 1e6);
        node.put("write_ms", manifest.writeNanos() / 1e6);
        node.put("verified_at",
                new VerifiedMark(LocalStorage.INSTANCE).read(entry.directory()).map(Instant::toString).orElse(null));
        ObjectNode labels = node.putObject("labels");
        manifest.labels().forEach(labels::put);
    }

    private static void print(Catalogue.Entry entry, String places) throws IOException {
        Manifest manifest = entry.manifest();
        if (manifest == null) {
            System.out.printf("%s  %-10s  %s%s%n", entry.name(), stateOf(entry),
                    entry.inProgress() ? "being written" : entry.problem().getMessage(), places);
            return;
        }
        System.out.printf("%s  complete    %d ranks%s  %s in %s stored  %s  stop %s (median %s)  write %s  %s%s%n",
                entry.name(), manifest.ranks(), hosts(manifest),
                Durations.bytes(manifest.bytes()), Durations.bytes(manifest.storedBytes()), age(manifest.takenAt()),
                Durations.format(manifest.stopMaxNanos()),
                Durations.format(manifest.stopMedianNanos()), Durations.format(manifest.writeNanos()),
                new VerifiedMark(LocalStorage.INSTANCE).read(entry.directory()).map(when -> "verified " + age(when))
                        .orElse("not verified"),
                places);
    }

    /** The number of hosts, for a job on several. */
    private static String hosts(Manifest manifest) {
        return manifest.nodes().size() > 1 ? " on " + manifest.nodes().size() + " hosts" : "";
    }

    private static String age(Instant when) {
        return Math.max(0, Duration.between(when, Instant.now()).toSeconds()) + " s ago";
    }
}
