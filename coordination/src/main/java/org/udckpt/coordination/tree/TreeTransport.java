package org.udckpt.coordination.tree;

/**
 * The way from one node to the others, as a {@link TreeNode} sees it. A message may be lost, doubled, late or
 * overtaken: the tree repeats what it needs to. Who cannot be reached is no error here either, since leases tell who is
 * lost. What arrives is handed to {@code TreeNode.onMessage(from, bytes, now)}, where {@code from} is the number that
 * the sender's end gives itself: who holds the job's credential, as all of its nodes do, is believed.
 */
@FunctionalInterface
public interface TreeTransport {
    /**
     * The longest message in bytes: larger tables are sent in several. A longer one that arrives is refused by the
     * receiver's end.
     */
    int MAX_MESSAGE_BYTES = 1 << 20;

    /**
     * Takes a message to be sent and returns at once: it neither waits for the peer nor calls the member back.
     *
     * @param to      number of the node, from 0; never the sender itself
     * @param message its bytes, which nobody changes any more
     */
    void send(int to, byte[] message);
}
