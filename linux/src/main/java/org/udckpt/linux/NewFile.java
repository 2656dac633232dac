package org.udckpt.linux;

import java.util.function.ToIntFunction;

/**
 * A file that is written beside its place, under a name that nobody can guess, until it is complete: then it is
 * renamed. A file that was not renamed is removed by {@link #close}.
 */
public final class NewFile implements AutoCloseable {
    private static final int LONGEST = 60; // characters, of 255 bytes that a name may have
    private static final int ATTEMPTS = 100;

    private final Folder folder;
    private final int fd;
    private String name;

    private NewFile(Folder folder, int fd, String name) {
        this.folder = folder;
        this.fd = fd;
        this.name = name;
    }

    /** @param folder stays open until this is closed */
    public static NewFile beside(Folder folder, String place) {
        return make(folder, place, name -> folder.create(name, Syscall.O_RDWR));
    }

    /** The same, which others may read, as far as the umask lets them: it holds no secrets. */
    public static NewFile visibleBeside(Folder folder, String place) {
        return make(folder, place, name -> folder.createVisible(name, Syscall.O_RDWR));
    }

    private static NewFile make(Folder folder, String place, ToIntFunction<String> create) {
        String base = place.substring(0, Math.min(LONGEST, place.length()));
        for (int attempt = 1;; attempt++) {
            String name = "." + base + "." + Long.toUnsignedString(SystemRandom.number(), 36) + ".new";
            try {
                return new NewFile(folder, create.applyAsInt(name), name);
            } catch (LinuxError taken) {
                if (taken.errno() != LinuxError.EEXIST || attempt == ATTEMPTS) {
                    throw taken;
                }
            }
        }
    }

    public int descriptor() {
        return fd;
    }

    /** Gives it its place. False: there is something. @throws UntrustedPath when it was exchanged */
    public boolean becomes(String place) {
        if (!folder.rename(name, place)) {
            return false;
        }
        placed(place);
        return true;
    }

    /** Gives it its place, whatever is there. */
    public void replaces(String place) {
        folder.replace(name, place);
        placed(place);
    }

    /** In a directory that others can write to, somebody may have exchanged it before it got its place. */
    private void placed(String place) {
        name = null;
        Files.Stat there = folder.stat(place);
        if (there == null || !there.isSame(Files.stat(fd))) {
            throw new UntrustedPath(folder.below(place) + " was replaced just after it was written; give another "
                    + "directory");
        }
    }

    @Override
    public void close() {
        try {
            if (name != null) {
                folder.unlink(name);
            }
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.ENOENT) { // somebody has removed it
                throw gone;
            }
        } finally {
            Files.close(fd);
        }
    }
}
