package org.udckpt.linux;

/** A name and all that is below it, by descriptors, without following a symbolic link or leaving the device. */
final class TreeRemoval {
    /** A tree that is deeper is nobody's who wants it removed: each level takes a descriptor. */
    private static final int DEEPEST = 100;

    private TreeRemoval() {}

    /** @throws LinuxError EXDEV naming where another file system begins */
    static void remove(Folder folder, String name) {
        remove(folder, name, DEEPEST);
    }

    private static void remove(Folder folder, String name, int deeper) {
        Files.Stat stat = folder.stat(name);
        if (stat == null) {
            return; // somebody else was first
        }
        if (stat.type() != Files.Stat.DIRECTORY) {
            folder.unlink(name);
            return;
        }
        if (deeper == 0) {
            throw new LinuxError("remove " + folder.below(name) + ": more than " + DEEPEST
                    + " directories in each other", LinuxError.ELOOP);
        }
        try (Folder sub = folder.subOfSameDevice(name)) {
            for (String below : sub.names()) {
                remove(sub, below, deeper - 1);
            }
        }
        folder.removeDirectory(name);
    }
}
