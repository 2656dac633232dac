package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.linux.Files;
import org.udckpt.process.linux.Folder;
import org.udckpt.process.linux.LinuxError;

/** The directories of the files that are put back, each opened once. Missing ones are made, for their owner only. */
final class Folders implements AutoCloseable {
    private static final int OWNERS = 0700;

    /** A file by its directory, which is open. */
    record Place(Folder folder, String name) {
        String path() {
            return folder.below(name);
        }

        /** Null: there is nothing. */
        Files.Stat stat() {
            return folder.stat(name);
        }
    }

    private final String root;
    private final Map<String, Folder> open = new HashMap<>();
    private final List<Place> made = new ArrayList<>();

    /** @param root of {@link RollbackRequest} */
    Folders(String root) {
        this.root = root;
    }

    Place place(String path) {
        int slash = path.lastIndexOf('/');
        return new Place(folder(slash == 0 ? "/" : path.substring(0, slash), path), path.substring(slash + 1));
    }

    private Folder folder(String path, String file) {
        Folder known = open.get(path);
        if (known == null) {
            try {
                known = Folder.open(root, path);
            } catch (LinuxError e) {
                known = switch (e.errno()) {
                    case LinuxError.ENOENT -> make(path, file);
                    case LinuxError.ELOOP -> throw new FilesChanged("on the way to " + file + " is a symbolic link that was not there at the checkpoint; put the directory back,"
                            + " or say where the files are now: --map-path OLD=NEW");
                    case LinuxError.ENOTDIR -> throw new FilesChanged("above " + file + " is a file where a directory was at the checkpoint; move it away");
                    default -> throw e;
                };
            }
            open.put(path, known);
        }
        return known;
    }

    private Folder make(String path, String file) {
        int slash = path.lastIndexOf('/');
        Place place = new Place(folder(slash == 0 ? "/" : path.substring(0, slash), file), path.substring(slash + 1));
        place.folder().makeDirectory(place.name(), OWNERS);
        made.add(place);
        return place.folder().sub(place.name());
    }

    /** The directory itself; made if it is missing. @return whether it was made */
    boolean ensure(String path) {
        int before = made.size();
        folder(path, path);
        return made.size() > before;
    }

    Folder of(String directory) {
        return folder(directory, directory);
    }

    /** Removes the directories that were made and are empty. */
    void undo() {
        for (Place place : made.reversed()) {
            try {
                place.folder().removeDirectory(place.name());
            } catch (LinuxError notEmpty) {
                if (notEmpty.errno() != 39 /* ENOTEMPTY: another program uses it already */) {
                    throw notEmpty;
                }
            }
        }
    }

    @Override
    public void close() {
        open.values().forEach(Folder::close);
        open.clear();
    }
}
