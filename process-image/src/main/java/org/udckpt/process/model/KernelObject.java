package org.udckpt.process.model;

/**
 * What a descriptor or a shared mapping stands for: one record per kernel object, however many descriptors, processes
 * and mappings share it. Ids start at 1 and are unique in an image; {@code flags} are those of open(2) (F_GETFL).
 */
public sealed interface KernelObject {
    long id();

    /**
     * A regular file. {@code backing} is the {@link SharedMemory} with its contents, or 0: the file on disk is reopened by
     * path and, when it was open for writing, cut back to {@code size}.
     */
    record OpenFile(long id, String path, int flags, long position, long size, int mode, long device, long inode, long modifiedNs,
            long backing) implements KernelObject {}

    /** Contents are extents of the {@link MemorySource} of this id. {@code key}, {@code ipcId}: SysV; {@code seals}: memfd. */
    record SharedMemory(long id, MemoryKind kind, String path, long size, int mode, int uid, int gid, int key, int ipcId, int seals)
            implements KernelObject {}

    /** The buffer between the {@link PipeEnd}s. {@code path}: of a named FIFO, or null. */
    record Pipe(long id, String path, int capacity, byte[] contents) implements KernelObject {}

    record PipeEnd(long id, long pipe, boolean writeEnd, int flags) implements KernelObject {}

    record EventFd(long id, int flags, long count, boolean semaphore) implements KernelObject {}

    /**
     * {@code settimeFlags}: TFD_TIMER_*. {@code expiresNs} is relative, but since 1970 for an absolute time (TFD_TIMER_ABSTIME) on
     * CLOCK_REALTIME; 0: it is not armed. {@code ticks}: expirations that were not read yet.
     */
    record TimerFd(long id, int flags, int clock, int settimeFlags, long ticks, long expiresNs, long intervalNs) implements KernelObject {}

    record Epoll(long id, int flags) implements KernelObject {}

    /**
     * One watched descriptor. {@code fd} is its number in the process that added it, {@code object} what it names; 0: a
     * descriptor of the library, which is there again only after REBUILD.
     */
    record EpollEntry(long id, long epoll, int pid, int fd, int events, long data, long object) implements KernelObject {}

    /**
     * @param type SOCK_STREAM 1, SOCK_DGRAM 2, SOCK_SEQPACKET 5
     * @param peer id of the other end; 0: none (peer closed, listening, or never connected: see {@code state}). Datagram sockets may each have another peer: only
     *             two that are connected to each other are a pair
     * @param queued unread bytes, all messages joined; {@code messageLengths} cuts them for DGRAM and SEQPACKET
     * @param sendBuffer SO_SNDBUF, when a process has chosen it; else 0. An older image has the size that it had by itself, too; {@code receiveBuffer}: SO_RCVBUF
     * @param shutdown directions that are shut: 1 receiving, 2 sending
     * @param receiveTimeoutUs SO_RCVTIMEO in microseconds, 0: none; {@code sendTimeoutUs}: SO_SNDTIMEO
     * @param name bound address as in sockaddr_un.sun_path (a first NUL byte: abstract), or empty
     */
    record UnixSocket(long id, int flags, int type, SocketState state, long peer, byte[] queued, int[] messageLengths, byte[] name,
            int backlog, int sendBuffer, int receiveBuffer, int shutdown, long receiveTimeoutUs, long sendTimeoutUs,
            boolean passCredentials) implements KernelObject {}

    /**
     * The peer of unix socket {@code object} has closed, and still tells its name (getpeername(2)).
     *
     * @param name as that of a {@link UnixSocket}
     */
    record GonePeer(long id, long object, byte[] name) implements KernelObject {}

    enum SocketState { CONNECTED, PEER_CLOSED, LISTENING, UNCONNECTED }

    /**
     * A lock on open file {@code object}. {@code length} 0: to the end of the file, however it grows.
     *
     * @param owner who holds it: FLOCK and DESCRIPTION (F_OFD_SETLK) the open file, PROCESS (F_SETLK) process {@code pid}
     */
    record FileLock(long id, long object, int pid, LockOwner owner, boolean exclusive, long start, long length) implements KernelObject {}

    /**
     * Open file {@code object} sends signals when it is ready (O_ASYNC, fcntl(2)).
     *
     * @param type F_OWNER_TID 0, F_OWNER_PID 1, F_OWNER_PGRP 2
     * @param receiver the thread, process or group that gets them; 0: nobody
     * @param signal F_SETSIG, 0: SIGIO
     */
    record SignalOnReady(long id, long object, int type, int receiver, int signal) implements KernelObject {}

    /**
     * Whom open file {@code object} would signal, and by what, although it is not to when it is ready (no O_ASYNC): a socket does so for an urgent byte.
     *
     * @param type as that of {@link SignalOnReady}, {@code receiver} and {@code signal} too
     */
    record SignalOwner(long id, long object, int type, int receiver, int signal) implements KernelObject {}

    enum LockOwner { FLOCK, DESCRIPTION, PROCESS }

    /** A file of which memory is mapped privately: a program or a library. No descriptor names it; it must be there unchanged. */
    record MappedFile(long id, String path, long size, long modifiedNs) implements KernelObject {}

    record SignalFd(long id, int flags, long mask) implements KernelObject {}

    /** Its watches are {@link InotifyWatch}es. */
    record InotifyFd(long id, int flags) implements KernelObject {}

    /** A directory, a harmless device (/dev/null, ...), or an O_PATH handle of anything. */
    record DirectoryOrDevice(long id, String path, int flags, long position) implements KernelObject {}

    /** A file of /proc or /sys: reopened by path. Paths hold pids as the job sees them. */
    record PseudoFile(long id, String path, int flags, long position) implements KernelObject {}

    /** The library's control connection: the restorer puts a fresh one there. */
    record AgentConnection(long id, int flags) implements KernelObject {}

    /** The rank's connection to its process manager. {@code queued}: bytes that the rank has not read yet. */
    record PmiConnection(long id, int flags, byte[] queued) implements KernelObject {}

    /** Standard stream 0, 1 or 2 inherited from the launcher: the same stream of the new launcher. */
    record StandardStream(long id, int stream, int flags) implements KernelObject {}

    /**
     * The options of unix socket {@code object} that are not what a new socket has ({@link SocketLevel#UNIX}), three numbers each: level, name, value
     * (setsockopt(2)). SO_LINGER: the seconds, where it is on.
     */
    record UnixOptions(long id, long object, int[] options) implements KernelObject {}
}
