package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.names.OwnDirectories;

/**
 * The directories of the files that are put back, each reached once, and not opened (O_PATH), since the job may watch
 * it. Missing ones are made as they were; for their owner only, where the image does not tell.
 */
final class Folders implements AutoCloseable {
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
    private final OwnDirectories then;
    private final Map<String, Folder> open = new HashMap<>();
    private final List<Place> made = new ArrayList<>();

    /** @param root of {@link RollbackRequest}. @param then what the directories were */
    Folders(String root, OwnDirectories then) {
        this.then = then;
        this.root = root;
    }

    Place place(String path) {
        return new Place(folder(directory(path), path), path.substring(path.lastIndexOf('/') + 1));
    }

    /** The same without making anything; null: its directory is not there. */
    Place existing(String path) {
        Folder folder = find(directory(path), path);
        return folder == null ? null : new Place(folder, path.substring(path.lastIndexOf('/') + 1));
    }

    /** Whether a directory is there. */
    boolean has(String path) {
        return find(path, path) != null;
    }

    private static String directory(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }

    private Folder folder(String path, String file) {
        Folder known = find(path, file);
        if (known == null) {
            known = make(path, file);
            open.put(path, known);
        }
        return known;
    }

    /** Null: it is not there. */
    private Folder find(String path, String file) {
        Folder known = open.get(path);
        if (known == null) {
            try {
                known = Folder.hold(root, path);
            } catch (LinuxError e) {
                known = switch (e.errno()) {
                    case LinuxError.ENOENT -> null;
                    case LinuxError.ELOOP -> throw new FilesChanged("on the way to " + file
                            + " is a symbolic link that did not exist at the checkpoint; restore the directory,"
                            + " or give the new place of the files: --map-path OLD=NEW");
                    case LinuxError.ENOTDIR -> throw new FilesChanged(
                            "above " + file + " is a file where a directory was at the checkpoint; move it away");
                    default -> throw e;
                };
            }
            if (known != null) {
                open.put(path, known);
            }
        }
        return known;
    }

    private Folder make(String path, String file) {
        Place place = new Place(folder(directory(path), file), path.substring(path.lastIndexOf('/') + 1));
        Folder folder = place.folder().makeSub(place.name());
        made.add(place);
        then.describe(folder);
        folder.close();
        return place.folder().holdSub(place.name());
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

    /** Called when all directories are complete. */
    void narrow() {
        for (Place place : made) {
            then.narrow(of(place.path()));
        }
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
