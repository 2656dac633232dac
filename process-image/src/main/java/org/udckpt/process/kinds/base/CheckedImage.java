package org.udckpt.process.kinds.base;

import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.RowCheck;

/** An image whose rows are held against each other: all its objects are known by their ids. */
public interface CheckedImage {
    /** A number that a process's descriptor can have: what NR_OPEN can be raised to (proc_sys_fs(5)) is less. */
    int MOST_DESCRIPTOR = 1 << 30;
    /** The highest number of a signal (signal(7)). */
    int SIGNALS = 64;

    /** Message about a row that refers to an object for which not {@link #canBeOpen}. */
    String CANNOT_BE_OPEN = "object %d does not exist, or is not a kind that a descriptor can refer to";
    /** Message about a row whose column {@code backing} is not the id of shared memory. */
    String NOT_SHARED_MEMORY = "backing %d is not the id of shared memory";

    /** All tables. */
    JobImage image();

    /** The object of that id; null: there is none. */
    Object get(long id);

    /** Whether that id is an object of this class. */
    default boolean is(long id, Class<?> type) {
        return type.isInstance(get(id));
    }

    /** Whether a descriptor may name that id. */
    boolean canBeOpen(long id);

    /** Whether a descriptor names that id. */
    boolean isOpen(long id);

    /** Whether the image has this process. */
    boolean process(int pid);

    /** Whom an open file sends which signal to (fcntl(2), F_SETOWN_EX and F_SETSIG). */
    default void receiver(RowCheck row, long object, int type, int receiver, int signal) throws BrokenTable {
        row.require(isOpen(object), "object %d has no descriptor", object);
        row.between(0, 2, "type", type);
        row.notNegative("receiver", receiver);
        row.between(0, SIGNALS, "signal", signal);
    }
}
