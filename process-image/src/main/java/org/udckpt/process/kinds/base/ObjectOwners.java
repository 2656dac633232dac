package org.udckpt.process.kinds.base;

/** Which process has a descriptor of an object, the first of several. */
public interface ObjectOwners {
    /** @throws RuntimeException none has {@code what}, and the image is inconsistent */
    NamedProcess of(long object, String what);

    /** The job's first process where none has it. */
    NamedProcess orFirst(long object);

    /** Whether a process has it. */
    boolean has(long object);
}
