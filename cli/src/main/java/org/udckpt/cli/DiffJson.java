package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import org.udckpt.address.Endpoint;
import org.udckpt.image.Manifest;
import org.udckpt.inspect.diff.DescriptorChange;
import org.udckpt.inspect.diff.EndpointChange;
import org.udckpt.inspect.diff.FileDiff;
import org.udckpt.inspect.diff.ImageDiff;
import org.udckpt.inspect.diff.NodeDiff;
import org.udckpt.inspect.diff.PageCounts;
import org.udckpt.inspect.diff.ProcessDiff;
import org.udckpt.inspect.diff.RegionChange;
import org.udckpt.inspect.diff.SharedDiff;
import org.udckpt.inspect.view.KernelObjects.Named;
import org.udckpt.process.model.ProcessState;
import org.udckpt.store.OpenNode;

/** {@code udckpt diff --json}; its schema is in docs/reference/json.md. */
final class DiffJson {
    private DiffJson() {}

    static ObjectNode of(ImageDiff diff) {
        ObjectNode root = JsonOutput.document();
        checkpoint(root.putObject("older"), diff.olderName(), diff.older());
        checkpoint(root.putObject("newer"), diff.newerName(), diff.newer());
        root.put("same_job", diff.sameJob()).put("page_bytes", PageCounts.BYTES);
        pages(root, diff.pages());
        ArrayNode processes = root.putArray("processes");
        ArrayNode fresh = root.putArray("new_processes");
        ArrayNode gone = root.putArray("gone_processes");
        ArrayNode shared = root.putArray("shared_memory");
        ArrayNode files = root.putArray("files");
        for (NodeDiff node : diff.nodes()) {
            node.processes().forEach(process -> process(processes.addObject(), node.newer(), process));
            node.newProcesses().forEach(process -> process(fresh.addObject(), node.newer(), process));
            node.goneProcesses().forEach(process -> process(gone.addObject(), node.older(), process));
            node.shared().forEach(object -> shared(shared.addObject().put("node", node.index()), object));
            node.files().forEach(file -> file(files.addObject().put("node", node.index()), file));
        }
        ArrayNode endpoints = root.putArray("endpoints");
        diff.endpoints().forEach(change -> endpoint(endpoints.addObject(), change));
        return root;
    }

    private static void checkpoint(ObjectNode node, String name, Manifest manifest) {
        node.put("id", name).put("taken_at", manifest.takenAt().toString()).put("ranks", manifest.ranks())
                .put("bytes", manifest.bytes())
                .put("stored_bytes", manifest.storedBytes());
    }

    private static void pages(ObjectNode node, PageCounts pages) {
        node.putObject("pages").put("both", pages.both()).put("changed", pages.changed()).put("added", pages.added())
                .put("removed", pages.removed());
    }

    private static void process(ObjectNode node, OpenNode where, ProcessState process) {
        where.processes().rank(process).ifPresent(rank -> node.put("rank", rank));
        node.put("node", where.index()).put("host", where.host()).put("pid", process.pid()).put("name", process.name());
    }

    private static void process(ObjectNode node, OpenNode where, ProcessDiff diff) {
        process(node, where, diff.newer());
        node.put("older_pid", diff.older().pid());
        pages(node, diff.pages());
        ArrayNode memory = node.putArray("memory");
        diff.groups().forEach(group -> {
            ObjectNode row = memory.addObject().put("kind", group.kind().word()).put("name", group.name())
                    .put("older_bytes", group.olderBytes())
                    .put("newer_bytes", group.newerBytes());
            pages(row, group.pages());
        });
        ArrayNode regions = node.putArray("regions");
        diff.regions().forEach(change -> region(regions.addObject(), change));
        ArrayNode descriptors = node.putArray("descriptors");
        diff.descriptors().forEach(change -> descriptor(descriptors.addObject(), change));
        diff.newThreads().forEach(node.putArray("new_threads")::add);
        diff.goneThreads().forEach(node.putArray("gone_threads")::add);
    }

    private static void region(ObjectNode node, RegionChange change) {
        node.put("change", word(change.change())).put("kind", change.kind().word()).put("name", change.name())
                .put("start", "0x%x".formatted(change.start()))
                .put("end", "0x%x".formatted(change.end())).put("older_bytes", change.olderBytes())
                .put("newer_bytes", change.newerBytes());
    }

    private static void descriptor(ObjectNode node, DescriptorChange change) {
        node.put("fd", change.fd()).put("change", word(change.change()));
        named(node, "older", change.older());
        named(node, "newer", change.newer());
    }

    private static void named(ObjectNode node, String field, Named object) {
        if (object == null) {
            node.putNull(field);
            return;
        }
        ObjectNode inner = node.putObject(field).put("kind", object.kind()).put("name", object.name());
        if (object.position() >= 0) {
            inner.put("position", object.position());
        }
    }

    private static void shared(ObjectNode node, SharedDiff diff) {
        node.put("change", diff.older() == null ? "new" : diff.newer() == null ? "gone" : "both");
        node.put("kind", word(diff.present().kind())).put("name", diff.present().path());
        node.put("older_bytes", diff.older() == null ? 0 : diff.older().size()).put("newer_bytes",
                diff.newer() == null ? 0 : diff.newer().size());
        pages(node, diff.pages());
    }

    private static void file(ObjectNode node, FileDiff diff) {
        node.put("change", diff.older() == null ? "new" : diff.newer() == null ? "gone" : "both").put("path",
                diff.present().path());
        node.put("older_bytes", diff.older() == null ? 0 : diff.older().size()).put("newer_bytes",
                diff.newer() == null ? 0 : diff.newer().size());
        pages(node, diff.pages());
    }

    private static void endpoint(ObjectNode node, EndpointChange change) {
        Endpoint present = change.present();
        node.put("change", change.older() == null ? "new" : change.newer() == null ? "gone" : "moved").put("rank",
                present.rank());
        node.put("transport", present.transport().name()).put("virtual", present.virtual().toString());
        node.put("older_real", EndpointText.real(change.older())).put("newer_real", EndpointText.real(change.newer()));
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
