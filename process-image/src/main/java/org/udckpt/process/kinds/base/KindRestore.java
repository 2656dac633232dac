package org.udckpt.process.kinds.base;

import org.udckpt.linux.Syscall;

/**
 * The part of a kind in one restore, in the order of its methods. All processes exist, and none runs;
 * from {@link #makeTogether} on their threads do, too, and their memory is mapped.
 *
 * @param <T> the record
 */
public interface KindRestore<T> {
    /** For a kind that is made with another one, or by the packages of files and memory. */
    static <T> KindRestore<T> none() {
        return new KindRestore<>() {};
    }

    /** Lets processes enter what they find names in; before anything is found by its name. */
    default void enter() {}

    /** Makes what memory is mapped from; before all mappings. */
    default void makeMemory() {}

    /** Makes what comes only together with its like, as the two ends of a pipe; before all that is made one by one. */
    default void makeTogether() {}

    /**
     * A fresh descriptor of an object in {@code maker}, under any number; asked for what {@link #makeTogether} has not
     * made. A kind whose objects are all made together says that the image is inconsistent.
     */
    default long make(Maker maker, T object) {
        throw maker.failed("the image is inconsistent: a " + object.getClass().getSimpleName()
                + " has a descriptor, but was not made with its peers");
    }

    /** Flags of open(2) of which {@link #make} sets O_NONBLOCK only: F_GETFL shows the others, too. 0: it sets all. */
    default int flags(T object) {
        return 0;
    }

    /** When all objects are made: what one has to do with others. */
    default void connect() {}

    /**
     * When all of the job's objects are open in the processes that have them, and before each descriptor has its
     * number.
     */
    default void place() {}

    /** When all contents of memory are there: modes and seals that would have kept them out. */
    default void finishMemory() {}

    /** When each descriptor has its number in each process, and no other is open. */
    default void placed() {}

    /** When all of the job's files are in their places: the last before it runs. */
    default void complete() {}

    /** The restore has failed, and all processes are killed: what this part has made outside of them goes again. */
    default void undo() {}

    /** O_NONBLOCK alone of flags of open(2). */
    static int nonBlocking(int flags) {
        return flags & Syscall.O_NONBLOCK;
    }
}
