package org.udckpt.process.model;

/**
 * A path of a file that processes of a mount namespace have opened before they were in it: it leads there in the
 * namespace in which the job was started.
 *
 * @param open the object that is open; 0: what any of these processes has mapped or executes, in images of before 1.0
 *     that do not tell whose it is ({@link EarlierPath})
 */
public record OutsidePath(long id, int tree, String path, long open) implements KernelObject {}
