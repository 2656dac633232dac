package org.udckpt.process.kinds.base;

import java.nio.file.Path;
import java.util.List;
import org.udckpt.process.files.QuietFiles;

/** What a capture offers to the kinds. */
public interface CaptureScope {
    /** Where records go. */
    ObjectTable table();

    /** Opens files in the agent without anybody noticing. */
    QuietFiles quiet();

    /** The job's processes that were read so far; in {@link KindCapture#finish}: all. */
    List<StoppedProcess> processes();

    /**
     * Notes who made the peer of a unix socket (SO_PEERCRED); who has ended is asked for later, in the process. @param
     * socket a duplicate of {@code open} here
     */
    void askPeer(OpenDescriptor open, long object, int socket);

    /** Notes who has sent a message that waits in a unix socket, as {@link #askPeer} does. */
    void askSender(OpenDescriptor open, MessageSender sender);

    /**
     * In {@link KindCapture#look}: takes a descriptor that a look at the queue of socket {@code through} has opened in
     * this process. It is shown to all kinds, read after those of the processes, and closed when all have been read.
     */
    void opened(OpenDescriptor through, int descriptor);

    /** The object of such a descriptor; in {@link KindCapture#finish}. */
    long inFlight(int descriptor);

    /** What a restart will open by its name. */
    OpenedByName names();

    /** The object with the content of an open regular file; 0: the file is found by its name again. */
    long contentOf(OpenDescriptor open);

    /** In {@link KindCapture#read}: what processes have mapped of this descriptor's file is memory of the object. */
    void mapped(OpenDescriptor open, long object);

    /**
     * As {@link #mapped(OpenDescriptor, long)}, before descriptors are read.
     *
     * @param file device and inode as in /proc/PID/maps, with a colon between them
     */
    void mapped(String file, long object);

    /** udckpt-shepherd: a program beside this one that ends what it has begun when this process is killed. */
    Path shepherd();

    /** The name under which an open regular file without {@link #contentOf} is found again. */
    String nameOnDisk(OpenDescriptor open);

    /** By where it comes from: the launcher's standard stream with this number, else -1. */
    int stream(OpenDescriptor open);

    /** Whether it is the library's connection to the agent. */
    boolean toAgent(OpenDescriptor open);

    /** Whether it is the rank's connection to its process manager. */
    boolean toProcessManager(OpenDescriptor open);

    /** Whether that is the pid, in the job's own namespace, of a child that has ended and was not waited for. */
    boolean ended(int namespacePid);
}
