package org.udckpt.lifecycle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.udckpt.cluster.Unit;
import org.udckpt.image.read.NodeReader;
import org.udckpt.linux.RawText;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.FilePlace;
import org.udckpt.store.ImageTables;
import org.udckpt.store.StateTables;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Which unit of a job of several nodes puts a file back that several had open: the one that saw it last, since all of
 * them stood still when it did. Two units had the same file if inode and device say so, on one machine or on a file
 * system that hosts share: that of the checkpoints, or a network's.
 */
final class SharedFiles {
    private record Holder(int unit, FilePlace place, JobFile.RegularFile file) {
        /** @param moved where the path leads to now */
        boolean same(Holder other, String path, String moved) {
            boolean inode = file.inode() == other.file.inode();
            boolean oneMachine = place.boot().equals(other.place.boot());
            if (oneMachine) {
                return inode && file.device() == other.file.device();
            }
            boolean shared = file.device() == place.imageDevice() && other.file.device() == other.place.imageDevice();
            return inode && (shared || onNetwork(path) || onNetwork(moved));
        }
    }

    /** File systems that hosts share, as mount(8) calls them. */
    private static final Pattern NETWORK = Pattern.compile(
            "nfs4?|lustre|gpfs|beegfs.*|ceph|cifs|smb3?|fuse.*|9p|virtiofs|afs"
                    + "|gfs2|ocfs2|orangefs|pvfs2|panfs|wekafs|glusterfs");

    private SharedFiles() {}

    /** Whether the path is on one, as this host sees it. */
    private static boolean onNetwork(String path) {
        String known = path; // up to the first name that is not UTF-8, which no file system is mounted under
        while (RawText.isRaw(known)) {
            known = known.substring(0, known.lastIndexOf('/'));
        }
        for (Path at = Path.of(known).getParent(); at != null; at = at.getParent()) {
            if (Files.exists(at)) {
                try {
                    return NETWORK.matcher(Files.getFileStore(at).type()).matches();
                } catch (IOException e) {
                    throw Failure.of("querying the file system of " + at, e);
                }
            }
        }
        return false;
    }

    /**
     * Paths, as the image has them, and the units that put a file of that name back: one for each file that several had
     * or only one; not those of which each had its own.
     *
     * @param nodes of the image, by unit
     * @param units where they are to be
     * @param moved where its files are now
     * @throws Failure 69 when two units had different files under one name, and are to be on one host
     */
    static Map<String, Set<Integer>> owners(List<NodeReader> nodes, List<Unit> units, Relocation moved)
            throws IOException {
        Map<String, List<Holder>> holders = new HashMap<>();
        for (int unit = 0; unit < nodes.size(); unit++) {
            FilePlace place = StateTables.readPlace(nodes.get(unit));
            for (JobFile file : ImageTables.readFiles(nodes.get(unit))) {
                if (file instanceof JobFile.RegularFile regular) {
                    holders.computeIfAbsent(regular.path(), _ -> new ArrayList<>())
                            .add(new Holder(unit, place, regular));
                }
            }
        }
        Map<String, Set<Integer>> owners = new HashMap<>();
        holders.forEach((path, all) -> {
            List<List<Holder>> files = apart(all, path, moved.path(path));
            refuseOnOneHost(path, files, units);
            if (files.size() < all.size()) {
                owners.put(path, files.stream().map(SharedFiles::lastSeenBy).collect(Collectors.toSet()));
            }
        });
        return owners;
    }

    /** Groups the holders by the file that they had. */
    private static List<List<Holder>> apart(List<Holder> all, String path, String moved) {
        List<List<Holder>> files = new ArrayList<>();
        for (Holder holder : all) {
            files.stream().filter(file -> holder.same(file.getFirst(), path, moved)).findFirst().orElseGet(() -> {
                files.add(new ArrayList<>());
                return files.getLast();
            }).add(holder);
        }
        return files;
    }

    private static int lastSeenBy(List<Holder> file) {
        Comparator<JobFile.RegularFile> seen =
                Comparator.comparingLong(JobFile.RegularFile::modifiedNs).thenComparingLong(JobFile.RegularFile::size);
        // What one could only append to, another may have written over.
        Comparator<JobFile.RegularFile> best =
                Comparator.<JobFile.RegularFile, Boolean>comparing(regular -> regular.cut() != JobFile.Cut.APPENDED)
                        .thenComparing(seen);
        return file.stream().max(Comparator.comparing(Holder::file, best)).orElseThrow().unit();
    }

    private static void refuseOnOneHost(String path, List<List<Holder>> files, List<Unit> units) {
        Map<String, List<Holder>> byHost = new HashMap<>();
        for (List<Holder> file : files) {
            for (Holder holder : file) {
                String host = units.get(holder.unit()).host();
                List<Holder> other = byHost.putIfAbsent(host, file);
                if (other != null && other != file) {
                    throw new Failure(ExitCode.UNSUPPORTED, path + " was a different file for "
                            + units.get(other.getFirst().unit()).ranks() + " and for "
                            + units.get(holder.unit()).ranks() + ": they cannot both be on host " + host
                            + "; place them with --hosts or --move-host");
                }
            }
        }
    }
}
