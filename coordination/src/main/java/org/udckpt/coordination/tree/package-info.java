/**
 * The tree of a job's nodes: collective calls down and up, leases, requests that are answered on the way
 * (docs/internals/coordination.md). Pure state machines, without threads, clocks or input and output: {@link TreeNode}
 * is told what happened ({@code onMessage(from, bytes, now)}, {@code onTimer(now)}, {@code onLocal(...)}), sends by
 * {@link TreeTransport}, and says when it wants to be woken. One thread at a time. Knows nothing of what the calls are
 * for.
 */
package org.udckpt.coordination.tree;
