package org.udckpt.process.model;

/**
 * One thing that the kernel keeps for a process, a thread or a range of memory, where it is not as it is in a program
 * that has just been started. docs/internals/attributes.md lists them all; {@link AttributeKind} those that can be
 * here.
 *
 * @param tid 0: of the process and all its threads
 * @param name {@link AttributeKind#label}; one that this version does not know is refused at a restart
 * @param start of the memory that it is of; 0, as {@code end}: of no memory
 */
public record Attribute(int pid, int tid, String name, long start, long end, long[] values) {
    public static Attribute of(AttributeKind kind, int pid, int tid, long... values) {
        return new Attribute(pid, tid, kind.label(), 0, 0, values);
    }

    /** Null: a newer version wrote it. */
    public AttributeKind kind() {
        return AttributeKind.named(name);
    }
}
