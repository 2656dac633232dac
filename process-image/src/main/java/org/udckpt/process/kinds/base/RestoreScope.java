package org.udckpt.process.kinds.base;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.names.NewName;
import org.udckpt.process.names.PlacedNames;

/** What a restore offers to the kinds. */
public interface RestoreScope {
    /** All tables. */
    JobImage image();

    /** The first process that has a descriptor of this object; null: none has. */
    Maker maker(long object);

    /** The process of the image with this pid. */
    Maker process(int pid);

    /** Objects that are made already. */
    MadeObjects made();

    /**
     * A descriptor of this process that only names (O_PATH) what {@code maker} sees under a path. It must be what was
     * looked at before; no symbolic link is followed.
     *
     * @throws LinuxError nothing is there
     */
    int openSeen(Maker maker, String path);

    /**
     * The pid of the child that {@link ObjectKind#endingChild} has asked for: it does nothing, and has ended and was
     * waited for when the job runs.
     */
    int endingChild(long key);

    /** Tells the user what is not as it was, and no hindrance. */
    void warn(String what);

    /** The name in the file system that the object is to get; null: none. */
    NewName name(long object);

    /** Where names are made so that what stands there is not lost when the restart fails. */
    PlacedNames placed();

    /** Opens, in {@code maker}, what this process has just made under a path. */
    long openMade(Maker maker, String path, int flags, Files.Stat made);

    /** Opens, in {@code maker}, what was looked at before: a descriptor, or {@code -errno}. */
    default long tryOpenSeen(Maker maker, String path, int flags) {
        return tryOpenSeen(maker, path, flags, 0);
    }

    /** The same for an object, which may be from before the process was in its mount namespace. */
    long tryOpenSeen(Maker maker, String path, int flags, long object);

    /** As {@link #tryOpen(Maker, String, int)}, for an object. */
    long tryOpenFor(Maker maker, String path, int flags, long object);

    /** As {@link #tryOpen(Maker, String, int, int)}, of what is there. */
    default long tryOpen(Maker maker, String path, int flags) {
        return tryOpen(maker, path, flags, 0);
    }

    /** Opens, in {@code maker}, what is under a name: a descriptor, or {@code -errno}; no symbolic link is followed. */
    long tryOpen(Maker maker, String path, int flags, int mode);

    /** Whether the file under this path was looked at already, and has to be the one that it was. */
    boolean verified(String path);

    /** Looks whether what {@code maker} has opened is the file that it has to be. @throws RuntimeException it is not */
    void verify(Maker maker, OpenFile file, long fd);

    /** As {@link #verify(Maker, OpenFile, long)}, of what was found under a path. */
    void verify(Maker maker, String path, long fd);

    /** Whether two descriptors of {@code maker} are of one file. */
    boolean same(Maker maker, long one, long other);

    /** The first process that has the memory mapped or open; any where none has. */
    Maker user(long memory);

    /** Begins to put the memory's content into a file that {@code maker} has open. */
    void fill(SharedMemory memory, Maker maker, long fd);

    /** As {@link #fill}, into a file that this process has open; it is closed then. */
    void fillHere(SharedMemory memory, int fd);

    /** The number, in {@code maker}, of a descriptor of this process, which stays open here. */
    long give(Maker maker, int descriptor);

    /** Whether a path leads {@code maker} to a file system of the job's own. */
    boolean isOwn(Maker maker, String path);

    /**
     * The path under which {@code maker} finds what is outside of its mount namespace, while descriptors that are not
     * the job's are open in it.
     */
    String outside(Maker maker, String path);

    /** Puts the memory's content to an address in {@code maker}. */
    void fillAt(SharedMemory memory, Maker maker, long address, String what);

    /**
     * Notes a named file that was made, where a restart removes again what it made. @throws RuntimeException it cannot
     */
    void noteMade(Maker maker, SharedMemory memory);

    /** Opens, in {@code maker}, a directory that this process has made. */
    long openDirectory(Maker maker, String path, Files.Stat made);

    /** Writes to the memory of a process of the job, from {@link KindRestore#finishMemory} on. */
    void write(Maker maker, long address, byte[] value);

    /** By pid: the job's processes, and those that have ended and that unix sockets tell of. */
    Map<Integer, ? extends Maker> makers();

    /** The launcher's standard stream, in each process. */
    long stream(int number);

    /** The new agent's socket. */
    Path agentSocket();

    /**
     * A new connection of {@code maker}'s rank to its process manager, in {@code maker}. @param queued what the rank
     * had not read
     */
    long processManager(Maker maker, byte[] queued);

    /** The error that the image is inconsistent. */
    RuntimeException inconsistent(String what);

    /** A descriptor of the object in this process. @throws RuntimeException the image is inconsistent */
    default Descriptor descriptor(int pid, long object) {
        return image()
                .descriptors()
                .stream()
                .filter(one -> one.pid() == pid && one.object() == object)
                .findFirst()
                .orElseThrow(() -> inconsistent("the image is inconsistent: process " + pid
                        + " has no descriptor of object " + object));
    }

    /** A descriptor of the object in any process. @throws RuntimeException the image is inconsistent */
    default Descriptor descriptor(long object) {
        return image()
                .descriptors()
                .stream()
                .filter(one -> one.object() == object)
                .findFirst()
                .orElseThrow(() -> inconsistent(
                        "the image is inconsistent: no process has a descriptor of object " + object));
    }

    /** All objects of a kind, in the image's order. */
    default <T extends KernelObject> List<T> objects(Class<T> type) {
        return image().objects().stream().filter(type::isInstance).map(type::cast).toList();
    }
}
