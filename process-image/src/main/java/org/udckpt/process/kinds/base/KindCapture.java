package org.udckpt.process.kinds.base;

import java.util.List;

/** The part of a kind in one capture, while the job stands still. Used by one thread. */
public interface KindCapture {
    /** What a kind has that is read with another one, or by the packages of files and memory. */
    KindCapture NONE = new KindCapture() {};

    /**
     * What can only be asked by system calls in a process: before any file is opened, and before processes are forked.
     *
     * @param caller in which calls can be made ({@link AskedProcess#tryCall}), on its tracer thread
     * @param processes all of the job's here; no calls can be made in the others
     */
    default void ask(AskedProcess caller, List<AskedProcess> processes) {}

    /** The same, once for each IPC namespace, after {@link #ask}. Calls can be made in the group's caller. */
    default void ask(IpcGroup group) {}

    /** Whether this descriptor is of the kind. At most one kind says so. */
    default boolean takes(OpenDescriptor open) {
        return false;
    }

    /** Whether it also takes descriptors that only name something (O_PATH), which no other kind is asked for. */
    default boolean takesHandles() {
        return false;
    }

    /**
     * Reads an open file that was not seen before, and adds its record to the capture's objects, now or in {@link
     * #finish}.
     *
     * @return the record's id
     * @throws RuntimeException by {@link OpenDescriptor#refuse}: it cannot be captured
     */
    default long read(OpenDescriptor open) {
        throw new IllegalStateException("this kind has not taken " + open.link());
    }

    /** When all processes have been read: records that refer to other objects. */
    default void finish() {}

    /** A kind that is shown every descriptor of every process before any file is opened, to refuse some. */
    interface Looks {
        void look(OpenDescriptor open);
    }

    /** A kind that is shown every descriptor of every process after it was read: also those of other kinds. */
    interface Sees {
        /**
         * @param object that it names
         * @param first the open file was not seen before
         */
        void seen(OpenDescriptor open, long object, boolean first);
    }
}
