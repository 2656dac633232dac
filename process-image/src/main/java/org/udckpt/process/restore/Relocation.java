package org.udckpt.process.restore;

import java.util.List;
import org.udckpt.process.files.PathPattern;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;

/**
 * Where a job's files are at a restart: each path that the kernel opens for it again is looked up here. What the
 * program itself keeps in its memory, such as the name of a file that it will open later, stays what it is.
 *
 * @param moves the longest first
 * @param directory in place of the working directory of the first process, for all that were in it; null: as before
 */
public record Relocation(List<Move> moves, String directory) {
    public static final Relocation NONE = new Relocation(List.of(), null);

    /** Absolute paths without a slash at their end: what was {@code from}, or below it, is now at {@code to}. */
    public record Move(String from, String to) {}

    public Relocation {
        moves = moves.stream() // the longest first
                .sorted((one, other) -> Integer.compare(other.from().length(), one.from().length())).toList();
    }

    /** The same image, with all paths where they are now. */
    public JobImage of(JobImage image) {
        if (moves.isEmpty() && directory == null) {
            return image;
        }
        String first = image.processes().getFirst().workingDirectory();
        List<ProcessState> processes = image.processes().stream().map(process -> process.at(path(process.executable()),
                directory != null && process.workingDirectory().equals(first) ? directory
                        : path(process.workingDirectory())))
                .toList();
        List<Region> regions = image.regions().stream()
                .map(region -> new Region(region.pid(), region.start(), region.end(), region.permissions(),
                        region.fileOffset(),
                        path(region.path()), region.vmFlags(), region.backing()))
                .toList();
        List<KernelObject> objects =
                image.objects().stream().map(object -> ObjectKinds.of(object).moved(object, this::path)).toList();
        List<InotifyWatch> watches = image.watches().stream()
                .map(watch -> new InotifyWatch(watch.inotify(), watch.number(), path(watch.path()), watch.mask()))
                .toList();
        return image.elsewhere(processes, regions, objects, watches, image.files().stream().map(this::file).toList(),
                image.identities().stream().map(one -> one.at(path(one.path()))).toList(),
                image.names().stream().map(this::name).toList());
    }

    /** Where a path is now. */
    public String path(String path) {
        for (Move move : moves) {
            if (path.equals(move.from()) || path.startsWith(move.from().equals("/") ? "/" : move.from() + "/")) {
                String rest = path.substring(move.from().equals("/") ? 0 : move.from().length());
                String moved = (move.to().equals("/") ? "" : move.to()) + rest;
                return moved.isEmpty() ? "/" : moved;
            }
        }
        return path;
    }

    private JobName name(JobName name) {
        return switch (name) {
            case JobName.Fifo f -> new JobName.Fifo(f.object(), path(f.path()), f.mode(), f.uid(), f.gid());
            case JobName.SocketFile s -> new JobName.SocketFile(s.object(), s.path().isEmpty() ? "" : path(s.path()),
                    s.mode(), s.uid(), s.gid());
            case JobName.Slave s -> s; // in a file system of the job's own
            case JobName.Directory d -> new JobName.Directory(path(d.path()), d.mode(), d.uid(), d.gid(), d.own());
        };
    }

    private JobFile file(JobFile file) {
        return switch (file) {
            case JobFile.RegularFile f -> new JobFile.RegularFile(f.id(), path(f.path()), f.size(), f.mode(), f.uid(),
                    f.gid(), f.modifiedNs(), f.device(), f.inode(), f.changedNs(), f.cut());
            case JobFile.HardLink link -> new JobFile.HardLink(path(link.path()), path(link.of()));
            case JobFile.SymbolicLink link -> new JobFile.SymbolicLink(path(link.path()),
                    link.target().startsWith("/") ? path(link.target()) : link.target(), link.uid(), link.gid());
            case JobFile.Directory d -> new JobFile.Directory(path(d.path()), d.mode(), d.uid(), d.gid(),
                    d.modifiedNs());
            case JobFile.LeftOut out -> new JobFile.LeftOut(path(out.path()), out.reason());
            case JobFile.Named named -> {
                PathPattern pattern = PathPattern.of(named.path());
                yield new JobFile.Named(pattern.withRoot(path(pattern.root())).toString(), named.except());
            }
        };
    }
}
