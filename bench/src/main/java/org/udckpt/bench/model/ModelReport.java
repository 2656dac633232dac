package org.udckpt.bench.model;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;

/** A prediction as people and programs read it. */
final class ModelReport {
    private ModelReport() {}

    static String text(ModelWorkload job, Storage storage, Prediction ours, Prediction blocking) {
        StringBuilder text = new StringBuilder();
        text.append("%,d ranks on %,d nodes, %s of memory, %s in an image; storage takes %s/s from them%n".formatted(
                job.ranks(), job.nodes(), Quantity.bytes(job.bytes()),
                Quantity.bytes(job.imageBytes()), Quantity.bytes(storage.rate(job.nodes()))));
        text.append("mean time between failures of the job: %s%n%n".formatted(Quantity.time(ours.mtbf())));
        text.append("%-34s %14s %14s%n".formatted("", "while it runs", "while it stands"));
        row(text, "the job stands still", Quantity.time(ours.stop()), Quantity.time(blocking.stop()));
        row(text, "  of it for agreement", Quantity.time(ours.coordination()), Quantity.time(blocking.coordination()));
        row(text, "the image is complete after", Quantity.time(ours.stop() + ours.write()),
                Quantity.time(blocking.stop() + blocking.write()));
        if (ours.drain() > 0) {
            row(text, "its copy on slow storage after", Quantity.time(ours.stop() + ours.write() + ours.drain()),
                    Quantity.time(blocking.stop() + blocking.write() + blocking.drain()));
        }
        row(text, "a checkpoint costs the job", Quantity.time(ours.cost()), Quantity.time(blocking.cost()));
        row(text, "computing between two", Quantity.time(ours.interval()), Quantity.time(blocking.interval()));
        row(text, "useful part of the time", percent(ours.efficiency()), percent(blocking.efficiency()));
        return text.toString();
    }

    private static void row(StringBuilder text, String what, String ours, String blocking) {
        text.append("%-34s %14s %14s%n".formatted(what, ours, blocking));
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.2f %%", 100 * part);
    }

    static String json(ModelWorkload job, Prediction ours, Prediction blocking) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode().put("schema", 1).put("ranks", job.ranks()).put("nodes", job.nodes())
                .put("bytes", job.bytes())
                .put("image_bytes", job.imageBytes()).put("mtbf_s", ours.mtbf());
        root.set("overlapped", json(mapper.createObjectNode(), ours));
        root.set("blocking", json(mapper.createObjectNode(), blocking));
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
    }

    private static ObjectNode json(ObjectNode node, Prediction one) {
        return node.put("stop_s", one.stop()).put("coordination_s", one.coordination()).put("write_s", one.write())
                .put("drain_s", one.drain())
                .put("cost_s", one.cost()).put("interval_s", one.interval()).put("efficiency", one.efficiency());
    }
}
