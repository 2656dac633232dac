package org.udckpt.linux;

/**
 * What was found under a name; open, so that it is this one whatever becomes of the name.
 *
 * @param fd O_PATH: nothing of it was opened yet, and nobody was told
 * @param writers who else could have put something else under the name, or can write to it
 * @param own those of them who can write to the very file
 */
public record FoundFile(String path, int fd, Files.Stat stat, Writers writers, Writers own) implements AutoCloseable {
    public boolean regular() {
        return stat.type() == Files.Stat.REGULAR;
    }

    /** Opens it: itself, and not what has its name now. */
    public int reopen(int flags) {
        return Files.reopen(fd, flags);
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
