package org.udckpt.process.model;

/**
 * A path of a file that processes of a mount namespace have opened, mapped or executed before they were in it: it leads
 * there in the namespace in which the job was started.
 *
 * @param open the object that is open; 0: what is mapped or executed
 */
public record OutsidePath(long id, int tree, String path, long open) implements KernelObject {}
