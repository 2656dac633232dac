package org.udckpt.job.life;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.image.read.NodeReader;
import org.udckpt.job.nodes.Unit;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.ImageTables;
import org.udckpt.process.model.JobFile;

/**
 * Which unit of a job of several nodes puts a file back that several had open: one on a file system that their hosts share. It is the same file if inode,
 * size and time of modification say so; device numbers differ from host to host.
 */
final class SharedFiles {
    private record Identity(long inode, long size, long modifiedNs) {
        static Identity of(JobFile.RegularFile file) {
            return new Identity(file.inode(), file.size(), file.modifiedNs());
        }
    }

    private record Holder(int unit, Identity identity) {}

    private SharedFiles() {}

    /**
     * Paths, and the first unit that has them; not those that only one has.
     *
     * @param nodes of the image, by unit
     * @param units where they are to be
     * @throws Failure 69 when two units had different files under one name, and are to be on one host
     */
    static Map<String, Integer> owners(List<NodeReader> nodes, List<Unit> units) throws IOException {
        Map<String, List<Holder>> holders = new HashMap<>();
        for (int unit = 0; unit < nodes.size(); unit++) {
            for (JobFile file : ImageTables.readFiles(nodes.get(unit))) {
                if (file instanceof JobFile.RegularFile regular) {
                    holders.computeIfAbsent(regular.path(), _ -> new java.util.ArrayList<>()).add(new Holder(unit, Identity.of(regular)));
                }
            }
        }
        Map<String, Integer> owners = new HashMap<>();
        holders.forEach((path, all) -> {
            boolean same = all.stream().map(Holder::identity).distinct().count() == 1;
            if (same && all.size() > 1) {
                owners.put(path, all.getFirst().unit());
            } else if (!same) {
                refuseOnOneHost(path, all, units);
            }
        });
        return owners;
    }

    private static void refuseOnOneHost(String path, List<Holder> holders, List<Unit> units) {
        Map<String, Holder> byHost = new HashMap<>();
        for (Holder holder : holders) {
            Holder other = byHost.putIfAbsent(units.get(holder.unit()).host(), holder);
            if (other != null && !other.identity().equals(holder.identity())) {
                throw new Failure(ExitCode.UNSUPPORTED, path + " was one file for " + units.get(other.unit()).ranks() + " and another one for " + units.get(holder.unit()).ranks()
                        + ": they cannot both be on host " + units.get(holder.unit()).host() + "; choose others by --hosts or --map");
            }
        }
    }
}
