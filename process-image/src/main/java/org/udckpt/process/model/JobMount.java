package org.udckpt.process.model;

/**
 * A mount of a mount namespace that the job has made (mount_namespaces(7)).
 *
 * @param tree number of the namespace, from 1 on; 0: that in which the job was started, of which there are only
 *     such mounts as others share mounts with
 * @param number of the mount in it, and of its {@code parent}; 0: it is the root
 * @param point where it is mounted: a path in the parent mount, "/" on top of it
 * @param outside what is mounted: a path in the namespace in which the job was started; "": it is on
 *     {@code filesystem}
 * @param filesystem the {@link JobFilesystem}, of which {@code part} is mounted; 0: it is outside of the job, and
 *     {@code part} is "", or {@link #ENDED}
 * @param attributes MOUNT_ATTR_ of mount_setattr(2)
 * @param peers the group of mounts that it shares mounts with, and {@code master} the one from which it receives them,
 *     as mountinfo numbers them; 0: none of the job's
 */
public record JobMount(long id, int tree, int number, int parent, String point, String outside, long filesystem,
        String part, int attributes, int peers, int master, boolean unbindable) implements KernelObject {
    /** {@link #master}: a group of the machine's, from which all that a restart mounts receives mounts. */
    public static final int MACHINES = -1;
    /** {@link #part}: {@code outside} is a file in /proc of a process that has ended. */
    public static final String ENDED = "/";
}
