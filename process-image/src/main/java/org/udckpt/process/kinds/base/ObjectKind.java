package org.udckpt.process.kinds.base;

import java.util.function.UnaryOperator;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.names.NameRefused;
import org.udckpt.process.names.NewName;

/**
 * All that is known of one kind of kernel object, by the record that an image has of it. A kind without a descriptor is
 * a part of another one, whose folder it is in: a pipe of its ends.
 *
 * @param <T> the record
 */
public interface ObjectKind<T> {
    /** Its simple name is the kind's name in images, in {@code inspect} and in messages: it does not change. */
    Class<T> record();

    /** What tells this object from others of its kind for a user: a path, addresses; "" where nothing does. */
    String shown(T object);

    /** Whether a descriptor can name it. */
    default boolean opens() {
        return this instanceof DescriptorKind;
    }

    /** Its part in one capture; a kind without a descriptor can have one, too: what open files have beside them. */
    default KindCapture capture(CaptureScope scope) {
        return KindCapture.NONE;
    }

    /** Its part in one restore. */
    default KindRestore<T> restore(RestoreScope scope) {
        return KindRestore.none();
    }

    /** Its position as a file; -1: it has none. */
    default long position(T object) {
        return -1;
    }

    /**
     * The same object for a restart to which files are elsewhere.
     *
     * @param moves where a path is now
     */
    default T moved(T object, UnaryOperator<String> moves) {
        return object;
    }

    /**
     * Whether what the object has to itself, and which is no name in the file system, is free.
     *
     * @throws NameRefused naming the holder
     */
    default void checkFree(T object) {}

    /** Of a kind that is a descriptor on its way to a process: what it names. Null: it is none. */
    default InFlight inFlight(T object) {
        return null;
    }

    /**
     * The key of a child that will have ended, if a restore of it needs one ({@link RestoreScope#endingChild}): objects
     * with the same key share it. 0: none.
     */
    default long endingChild(T object) {
        return 0;
    }

    /**
     * The name in the file system that a restart makes for it; null: none.
     *
     * @param former as the image has it; null: an image of before there was that table does not tell
     * @param user the first process with a descriptor of it; null: none
     */
    default NewName name(T object, JobName former, ProcessState user) {
        return null;
    }

    /**
     * Holds a row of an image's table against the rest of the image: lengths, references, numbers that the kernel would
     * be asked for.
     *
     * @throws BrokenTable no capture wrote this
     */
    void check(T object, RowCheck row, CheckedImage image) throws BrokenTable;
}
