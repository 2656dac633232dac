/**
 * A job of any number of nodes in one thread: the coordination tree that agents run, with its real messages, over a
 * network, ranks and faults that are simulated in virtual time (docs/internals/coordination.md has the model and its
 * limits). The same seed gives the same run.
 */
package org.udckpt.bench.scale;
