package org.udckpt.process.names;

import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;

/**
 * The directories of a job's names. One that has gone, as all in /tmp have after a reboot, is made again with the owner
 * and mode that it had, if it was the job's own; one that was somebody else's is his to make.
 */
public final class OwnDirectories {
    private static final int FACCESSAT = 269, WRITE_AND_SEARCH = 3, OWNERS = 0700;

    private final Map<String, JobName.Directory> known = new HashMap<>();
    /** The image tells whose they were. */
    private final boolean told;

    public OwnDirectories(JobImage image) {
        for (JobName name : image.names()) {
            if (name instanceof JobName.Directory directory) {
                known.put(directory.path(), directory);
            }
        }
        told = !known.isEmpty();
    }

    /** Hears of each directory that was made, so that it can be removed again. */
    interface Made {
        void made(Folder parent, String name);
    }

    /**
     * Reaches it (O_PATH), and makes what is missing of it.
     *
     * @param root of {@link Folder#open(String, String)}
     * @param what needs it
     */
    Folder open(String root, String path, String what, Made made) {
        Folder there = find(root, path, what);
        if (there != null) {
            return there;
        }
        try (Folder parent = open(root, parent(path), what, made)) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            requireOwn(path, what);
            try (Folder folder = parent.makeSub(name)) {
                made.made(parent, name);
                describe(folder);
            }
            return parent.holdSub(name);
        }
    }

    /**
     * Gives a directory that was just made the owner and mode that it had, but for its owner, who has to fill it yet;
     * where the image does not tell, it is for its owner only.
     */
    public void describe(Folder folder) {
        set(folder, OWNERS);
    }

    /** When nothing more is made in it: one that its owner could not write to. */
    public void narrow(Folder folder) {
        set(folder, 0);
    }

    private void set(Folder folder, int more) {
        JobName.Directory as = known.get(folder.path());
        if (as != null) {
            boolean root = User.id() == 0;
            Files.attributes(folder.descriptor(), folder.path(), root ? as.uid() : -1, root ? as.gid() : -1,
                    as.mode() | more, 0);
        }
    }

    /** Null: it is not there, and can be made. @throws NameRefused it cannot */
    Folder check(String root, String path, String what) {
        Folder there = find(root, path, what);
        if (there == null) {
            requireOwn(path, what);
            try (Folder above = check(root, parent(path), what)) {
                if (above != null
                        && Syscall.call(FACCESSAT, above.descriptor(), Scratch.string("."), WRITE_AND_SEARCH) != 0) {
                    throw missing(path, what, "this user cannot create it in " + above.path());
                }
            }
        }
        return there;
    }

    /** Opens the directory, or the nearest one above it that exists. */
    Folder nearest(String root, String path, String what) {
        Folder there = find(root, path, what);
        return there == null ? nearest(root, parent(path), what) : there;
    }

    private void requireOwn(String path, String what) {
        JobName.Directory then = known.get(path);
        if (told && (then == null || !then.own())) {
            throw missing(path, what, then == null ? "it did not exist at the checkpoint either"
                    : "it belonged to user " + then.uid() + ", who is not a user of the job, or was writable by "
                            + "others");
        }
        if (then != null && User.id() != 0 && then.uid() != User.id()) {
            throw missing(path, what, "it belonged to user " + then.uid());
        }
    }

    private static NameRefused missing(String path, String what, String why) {
        return new NameRefused(NameRefused.Reason.NO_DIRECTORY, "directory " + path + " of " + what
                + " is missing and is not created: " + why + "; create it, or give its new place: --map-path OLD=NEW");
    }

    /** Null: it is not there. */
    private static Folder find(String root, String path, String what) {
        try {
            return Folder.hold(root, path); // not opened: the job may watch it
        } catch (LinuxError e) {
            return switch (e.errno()) {
                case LinuxError.ENOENT -> null;
                case LinuxError.ELOOP -> throw new NameRefused(NameRefused.Reason.ANOTHERS, "a directory of " + what
                        + " has become a symbolic link, which is not followed: restore the"
                        + " directory, or give its new place: --map-path OLD=NEW");
                case LinuxError.ENOTDIR -> throw new NameRefused(NameRefused.Reason.ANOTHERS,
                        "above " + what + " is a file now where a directory was at the checkpoint; move it away");
                default -> throw e;
            };
        }
    }

    private static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }
}
