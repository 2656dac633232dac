package org.udckpt.process.kinds.base;

/**
 * Where a thread is that has a working directory and umask of its own (unshare(2), CLONE_FS).
 *
 * @param tid as the job numbers the thread
 * @param path of the directory, as its process sees it
 */
public record ThreadPlace(int tid, String path, int umask) {}
