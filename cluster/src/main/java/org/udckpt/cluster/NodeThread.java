package org.udckpt.cluster;

import java.util.function.LongConsumer;

/**
 * The one thread in which all of a node's protocol runs (docs/internals/coordination.md): whoever else wants something
 * of its parts, a connection's thread or work that has ended, gives it a task. Tasks run in the order in which they
 * were given, never inside of the call that gives them.
 */
public interface NodeThread {
    /** Returns at once. @param task is given {@link System#nanoTime}; none begins after the thread has ended */
    void execute(LongConsumer task);
}
