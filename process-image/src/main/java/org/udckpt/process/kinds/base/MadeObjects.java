package org.udckpt.process.kinds.base;

/** Which process holds which kernel object, under which number, while a job is restored. */
public interface MadeObjects {
    /**
     * Takes a descriptor that {@code maker} has just opened for object {@code id}; the number that it has from now on.
     */
    long add(Maker maker, long id, long fd);

    /** Whether the object was made. */
    boolean known(long id);

    /** The object's descriptor in {@code maker}, fetched from the process that made it if needed. */
    long in(Maker maker, long id);
}
