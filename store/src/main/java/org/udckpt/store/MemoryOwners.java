package org.udckpt.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.image.read.MemoryNames;
import org.udckpt.image.read.NodeReader;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.support.report.Messages;

/**
 * Whose memory is damaged: the rank, and what shares the memory, by the image's tables. Only read when something is.
 */
public final class MemoryOwners {
    private static final int NAMED = 4;

    private MemoryOwners() {}

    /** The image's number where its tables are damaged as well. */
    public static String of(NodeReader node, int number) {
        try {
            for (MemoryRow row : node.table(ImageTables.MEMORY, MemoryRow.class)) {
                if (row.number() == number) {
                    return owner(node, row);
                }
            }
        } catch (IOException | RuntimeException e) {
            Messages.debugTrace("nobody can say whose memory " + number + " is", e);
        }
        return MemoryNames.NUMBERS.of(node, number);
    }

    private static String owner(NodeReader node, MemoryRow row) throws IOException {
        JobImage image = ImageTables.readImage(node);
        ImageProcesses processes = new ImageProcesses(node.checkpoint().directory().toString(), image.processes(),
                ImageTables.readRanks(node, image, StateTables.readJob(node.checkpoint()).span(node)));
        List<String> owners = new ArrayList<>();
        for (ProcessState process : image.processes()) {
            if (row.process() ? process.pid() == row.id() : maps(image, process, row.id())) {
                owners.add(processes.name(process));
            }
        }
        String named = owners.stream().limit(NAMED).collect(Collectors.joining("; "))
                + (owners.size() > NAMED ? "; and " + (owners.size() - NAMED) + " more" : "");
        return row.process() ? named : "shared memory " + row.id() + (owners.isEmpty() ? "" : " of " + named);
    }

    private static boolean maps(JobImage image, ProcessState process, long memory) {
        for (Region region : image.regions()) {
            if (region.pid() == process.pid() && region.backing() == memory) {
                return true;
            }
        }
        return false;
    }
}
