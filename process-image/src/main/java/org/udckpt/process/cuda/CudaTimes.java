package org.udckpt.process.cuda;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.process.model.BrokenTable;

/**
 * What the driver took to suspend a process and to let it go on, in nanoseconds; a row of an image's table
 * {@code cuda}. A restart restores and unlocks exactly the processes that have one.
 *
 * @param pid in the image
 * @param library the driver's library that it has mapped, a path
 * @param restoreNs 0 where the ranks were to stand still (--then kill)
 * @param unlockNs 0 likewise
 */
public record CudaTimes(int pid, String library, long lockNs, long checkpointNs, long restoreNs, long unlockNs) {
    /** Of a node of an image. */
    public static final String TABLE = "cuda";

    /** What no checkpoint writes is refused. @param pids of the processes in the image */
    public static void check(List<CudaTimes> rows, Set<Integer> pids) throws BrokenTable {
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < rows.size(); i++) {
            CudaTimes row = rows.get(i);
            boolean negative = row.lockNs < 0 || row.checkpointNs < 0 || row.restoreNs < 0 || row.unlockNs < 0;
            String wrong = !pids.contains(row.pid) ? "pid " + row.pid + " is not a process of this node"
                    : !seen.add(row.pid) ? "duplicate pid " + row.pid
                            : !row.library.startsWith("/") ? "its library has no absolute path"
                                    : negative ? "a time below zero" : null;
            if (wrong != null) {
                throw new BrokenTable(TABLE, i, wrong);
            }
        }
    }
}
