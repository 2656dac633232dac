package org.udckpt.process.kinds.mount;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Proc;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.namespace.JobNamespaces;
import org.udckpt.process.model.JobFilesystem;

/**
 * The mount namespaces of a job that stands still, and what only they have mounted. Any thread, until {@link #rows} are
 * made.
 */
public final class JobMounts implements AutoCloseable {
    private final Map<String, MountNamespace> namespaces = new LinkedHashMap<>();
    /** By device. */
    private final Map<Long, JobFilesystem> filesystems = new HashMap<>();
    private final JobNamespaces users = new JobNamespaces();
    private MountThread origin;
    private List<MountLine> outside;

    /**
     * The namespace of a process that has left the one in which the job was started.
     *
     * @param started a process in that one
     * @throws RuntimeException the refusal: a restart could not make it again
     */
    public synchronized MountNamespace of(StoppedProcess process, int started) {
        String link = Files.readLink("/proc/" + process.task() + "/ns/mnt");
        MountNamespace known = namespaces.get(link);
        if (known == null) {
            long owner = users.owner(process, "mnt", started);
            if (User.id() != 0 && owner == 0) {
                throw process.refuse("it is in a mnt namespace of its own (unshare(2), a container), and only root can "
                        + "checkpoint and restart that");
            }
            if (MountLine.parse(Proc.text("/proc/self/mountinfo")).stream()
                    .noneMatch(line -> line.point().equals("/"))) {
                throw process
                        .refuse("it is in a mnt namespace of its own, which a restart could not make here: the root "
                                + "directory of udckpt is no mount point (chroot(2), pivot_root(2))");
            }
            known = read(process, started, owner);
            namespaces.put(link, known);
        }
        known.refuseOtherRoot(process);
        return known;
    }

    private MountNamespace read(StoppedProcess process, int started, long owner) {
        try {
            if (origin == null) {
                origin = new MountThread(started);
                outside = origin.mounts();
            }
            return new MountNamespace(namespaces.size() + 1, process, this, owner);
        } catch (LinuxError e) {
            throw process.refuse("it is in a mnt namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    /** The other namespaces that the job has made. */
    public JobNamespaces others() {
        return users;
    }

    /** The mounts of the namespace in which the job was started. */
    List<MountLine> outside() {
        return outside;
    }

    /** A thread in it. */
    MountThread origin() {
        return origin;
    }

    /** Its root directory, as a path of this process. */
    String outsideRoot() {
        return origin.root();
    }

    /** Whether only the job's own namespaces have this device mounted. */
    synchronized boolean owns(long device) {
        return filesystems.containsKey(device);
    }

    /** Whether it is an overlay of the job's own: stat(2) tells other devices of files in it. */
    synchronized boolean isOverlay(long device) {
        JobFilesystem system = filesystems.get(device);
        return system != null && system.fileSystem().equals(OverlayOptions.OVERLAY);
    }

    /** The file system of the job's own that this is a mount of; its id is not given yet. */
    synchronized void add(MountLine mount) {
        filesystems.putIfAbsent(mount.device(),
                new JobFilesystem(0, mount.type(), mount.source(), mount.options()));
    }

    /** By device. */
    Map<Long, JobFilesystem> filesystems() {
        return filesystems;
    }

    Collection<MountNamespace> namespaces() {
        return namespaces.values();
    }

    /** All mounts of this device, of all namespaces, each with its namespace. */
    List<Map.Entry<MountNamespace, MountLine>> of(long device) {
        List<Map.Entry<MountNamespace, MountLine>> found = new ArrayList<>();
        namespaces.values().forEach(one -> one.lines().stream().filter(line -> line.device() == device)
                .forEach(line -> found.add(Map.entry(one, line))));
        return found;
    }

    @Override
    public synchronized void close() {
        users.close();
        namespaces.values().forEach(MountNamespace::close);
        namespaces.clear();
        if (origin != null) {
            origin.close();
            origin = null;
        }
    }
}
