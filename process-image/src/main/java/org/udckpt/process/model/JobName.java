package org.udckpt.process.model;

/**
 * A name in the file system that a restart makes again, as it was at the checkpoint: that of a FIFO, a unix socket or a
 * terminal, and of the directories above them, above shared memory and above the job's files. Images that were made
 * before this table was have none: there owner, mode and directory are not known, and a restart makes the name for its
 * own user, with the mode that the process's umask gives.
 */
public sealed interface JobName {
    /** Absolute, as the kernel spells it: without symbolic links, "." and "..". */
    String path();

    /** The path of the {@code Pipe} {@code object}. @param mode permission bits */
    record Fifo(long object, String path, int mode, int uid, int gid) implements JobName {}

    /**
     * Of the {@code UnixSocket} {@code object}: where the name stands that bind(2) made, which may be another one than
     * the program said.
     *
     * @param path "": it stands nowhere any more, since it was removed or replaced
     */
    record SocketFile(long object, String path, int mode, int uid, int gid) implements JobName {}

    /**
     * Of the {@link TerminalObject.Terminal} {@code object}: its slave, {@code /dev/pts/N}, whose owner and mode
     * grantpt(3) and mesg(1) set.
     */
    record Slave(long object, String path, int mode, int uid, int gid) implements JobName {}

    /**
     * A directory above one of those names or files.
     *
     * @param own it belonged to a user of the job, and others could put no names of theirs in the place of its own: a
     *     restart may make it again
     */
    record Directory(String path, int mode, int uid, int gid, boolean own) implements JobName {}
}
