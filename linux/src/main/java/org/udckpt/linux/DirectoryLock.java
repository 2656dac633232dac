package org.udckpt.linux;

/** An exclusive lock on a directory (flock(2)), which nothing has to be written for. The kernel takes it back when this process ends. */
public final class DirectoryLock implements AutoCloseable {
    private static final int FLOCK = 73, LOCK_EX = 2, LOCK_NB = 4;
    private final int directory;

    private DirectoryLock(int directory) {
        this.directory = directory;
    }

    /**
     * Null: somebody else has it, in this process or another one.
     *
     * @throws LinuxError EBADF, ENOLCK or EOPNOTSUPP of file systems that lock no directories (NFS)
     */
    public static DirectoryLock tryTake(String path) {
        int directory = Files.open(path, Syscall.O_RDONLY);
        long result = Syscall.call(FLOCK, directory, LOCK_EX | LOCK_NB);
        if (result == 0) {
            return new DirectoryLock(directory);
        }
        Files.close(directory);
        if (result != -LinuxError.EAGAIN) {
            throw new LinuxError("lock " + path, (int) -result);
        }
        return null;
    }

    @Override
    public void close() {
        Files.close(directory);
    }
}
