package org.udckpt.process.files;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.process.model.JobFile;

/**
 * Finds what was made after the checkpoint in places that the user has named: whole directories where nothing else is
 * in them.
 */
final class MadeSince {
    /** Hears of each. */
    interface Visitor {
        void found(String path, Files.Stat stat);
    }

    private final List<JobFile> files;
    private final Set<String> known;
    private final Set<String> streams;
    private final FileRequest scope;
    private final Set<String> aside = new HashSet<>();

    /**
     * @param files of the image
     * @param known paths of all that was there at the checkpoint; what is found is added
     */
    MadeSince(List<JobFile> files, Set<String> known, RollbackRequest request) {
        this.files = files;
        this.known = known;
        this.streams = FileRequest.keys(request.streams());
        List<PathPattern> except = files.stream().filter(file -> file instanceof JobFile.Named named && named.except())
                .map(file -> PathPattern.of(file.path())).toList();
        this.scope = new FileRequest(List.of(), except, request.foreign(), streams, 0, 0, null, false);
    }

    void visit(Visitor visitor) {
        for (JobFile file : files) {
            if (file instanceof JobFile.Named named && !named.except()) {
                FileTree.walk(PathPattern.of(named.path()), this::isOutside,
                        (folder, name, stat) -> isOld(folder, name, stat, visitor));
            }
        }
    }

    private boolean isOutside(String path) {
        return scope.isForeign(path) || scope.isExcepted(path);
    }

    /** Whether to go on into it. */
    private boolean isOld(Folder folder, String name, Files.Stat stat, Visitor visitor) {
        String path = folder.below(name);
        if (aside.stream().anyMatch(gone -> path.equals(gone) || path.startsWith(gone + "/"))) {
            return false; // two patterns name it
        }
        boolean old = !known.add(path) || streams.contains(Candidate.key(stat)) || isAbove(path, stat);
        if (!old && stat.type() == Files.Stat.DIRECTORY && holdsOthers(folder, name, stat.device())) {
            return true; // what else is in it goes by itself
        }
        if (!old) {
            aside.add(path);
            visitor.found(path, stat);
        }
        return old;
    }

    /** Whether something lies in a directory that no restart may move: it cannot be put aside as a whole. */
    private boolean holdsOthers(Folder folder, String name, long device) {
        try (Folder sub = folder.sub(name)) {
            List<String> names = sub.names();
            if (FileTree.holdsCheckpoints(names)) {
                return true;
            }
            for (String below : names) {
                Files.Stat stat = sub.stat(below);
                if (stat != null && (isOutside(sub.below(below)) || stat.device() != device
                        || streams.contains(Candidate.key(stat))
                        || stat.type() == Files.Stat.DIRECTORY && holdsOthers(sub, below, device))) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * A directory that is no part of what was saved, but in which such a file lies, as one that the job only had open.
     */
    private boolean isAbove(String path, Files.Stat stat) {
        return stat.type() == Files.Stat.DIRECTORY && files.stream()
                .anyMatch(file -> !(file instanceof JobFile.Named) && file.path().startsWith(path + "/"));
    }
}
