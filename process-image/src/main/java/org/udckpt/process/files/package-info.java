/**
 * The job's files on disk as a part of a checkpoint (docs/user/files.md): which they are, how their content at the stop
 * is got hold of while the job writes on ({@link org.udckpt.process.files.FileCut}), and how they are put back before a
 * restart ({@link org.udckpt.process.files.Rollback}). Knows nothing of processes.
 */
package org.udckpt.process.files;
