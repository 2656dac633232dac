package org.udckpt.process.files;

import java.util.List;
import java.util.Set;

/**
 * How files are put back.
 *
 * @param checkpoint its name, for the names of what is put aside
 * @param keep what is replaced stays beside; else it is removed when the job runs
 * @param foreign directories that are no part of the job
 * @param root /proc/PID/root of a process whose files they are, where a copy of the job works on changes of its own;
 *     then what was made after the checkpoint stays. Else ""
 * @param streams {device, inode} pairs of the launcher's standard streams
 * @param elsewhere paths of files that another one puts back
 */
public record RollbackRequest(String checkpoint, boolean keep, List<String> foreign, String root, long[] streams,
        Set<String> elsewhere) {}
