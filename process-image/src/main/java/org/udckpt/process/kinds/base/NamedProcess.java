package org.udckpt.process.kinds.base;

/** A process of the job that errors name, before it is there and when it is. */
public interface NamedProcess {
    /** As the job numbers it. */
    int pid();

    /** As messages call it. */
    String name();

    /** The error that something could not be made. */
    RuntimeException failed(String what);

    /** The error that this machine or kernel cannot do it. */
    RuntimeException unsupported(String what);

    /** The error that somebody else has what the job had. */
    RuntimeException inUse(String what);
}
