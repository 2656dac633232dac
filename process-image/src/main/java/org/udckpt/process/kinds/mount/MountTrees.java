package org.udckpt.process.kinds.mount;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.RawText;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.RowCheck;

/** The mounts of an image by namespace. */
final class MountTrees {
    /** Namespaces of one job. */
    static final int MOST = 4096;
    /** Mounts above one. */
    private static final int DEEPEST = 4096;

    /** PATH_MAX without the NUL. */
    private static final int LONGEST = 4095;

    private MountTrees() {}

    /** By number of the namespace, without 0. */
    static Map<Integer, List<JobMount>> of(JobImage image) {
        Map<Integer, List<JobMount>> trees = new HashMap<>();
        image.objects().stream().filter(JobMount.class::isInstance).map(JobMount.class::cast)
                .filter(mount -> mount.tree() != 0)
                .forEach(mount -> trees.computeIfAbsent(mount.tree(), _ -> new ArrayList<>()).add(mount));
        return trees;
    }

    /** That a path, or what a symbolic link has, is none that the kernel would not take. */
    static void shortEnough(RowCheck row, String path) throws BrokenTable {
        row.require(RawText.encode(path).length <= LONGEST, "a path of %d characters is too long", path.length());
    }

    /** That each namespace is one tree. */
    static void check(JobImage image, RowCheck row) throws BrokenTable {
        for (List<JobMount> mounts : of(image).values()) {
            Map<Integer, JobMount> byNumber = new HashMap<>();
            int roots = 0;
            for (JobMount mount : mounts) {
                roots += mount.parent() == 0 ? 1 : 0;
                row.require(byNumber.put(mount.number(), mount) == null, "duplicate number %d of a mount",
                        mount.number());
            }
            row.require(roots == 1, "namespace %d does not have one root", mounts.getFirst().tree());
            for (JobMount mount : mounts) {
                row.require(mount.parent() == 0 || byNumber.containsKey(mount.parent()), "mount %d is on none",
                        mount.number());
                row.require(depth(mount, byNumber) >= 0, "mount %d is on itself", mount.number());
            }
        }
    }

    /** How many mounts are below; -1: too many. */
    private static int depth(JobMount mount, Map<Integer, JobMount> byNumber) {
        int depth = 0;
        for (JobMount at = mount; at != null && at.parent() != 0; at = byNumber.get(at.parent())) {
            if (++depth > DEEPEST) {
                return -1;
            }
        }
        return depth;
    }
}
