package org.udckpt.cluster;

import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeNode;
import org.udckpt.support.report.Messages;
import org.udckpt.transport.Inbox;
import org.udckpt.transport.Mailbox;

/**
 * Drives one node: messages as they come, tasks, and the time, all in one thread, since the protocol has none of its
 * own. What comes before {@link #start} waits.
 */
final class NodeLoop implements NodeThread, Inbox, AutoCloseable {
    /** Receives the messages that are not of the tree, in the node's thread. */
    interface Introductions {
        void received(int from, byte[] message, long now) throws MalformedMessage;
    }

    private static final long WAITING_BYTES = 32 << 20;
    private static final int MOST_WARNINGS = 256;

    private static final int MOST_LETTERS = 1024; // in a row

    private final int node;
    private final TableReader tables;
    private final Mailbox mailbox = new Mailbox(WAITING_BYTES);
    private final Queue<LongConsumer> tasks = new ConcurrentLinkedQueue<>();
    private final Set<String> warned = new HashSet<>();
    private NodeProtocol part;
    private Introductions introductions;
    private Thread thread;
    private volatile boolean stopped;

    /** @param tables gets them as they come, beside the node's thread */
    NodeLoop(int node, TableReader tables) {
        this.node = node;
        this.tables = tables;
    }

    /**
     * Begins.
     *
     * @param failed is told, in the node's thread and as its last act, of what the protocol or a task has thrown: the
     *     node knows nothing for certain any more
     */
    void start(NodeProtocol driven, Introductions others, Consumer<Throwable> failed) {
        part = driven;
        introductions = others;
        thread = Thread.ofPlatform().daemon().name("node " + node).start(() -> serve(failed));
    }

    @Override
    public void execute(LongConsumer task) {
        tasks.add(task);
        mailbox.wake();
    }

    @Override
    public void message(int from, byte[] message) throws InterruptedException {
        mailbox.put(from, message);
    }

    @Override
    public void table(int from, byte[] subject, VectorSchemaRoot table) {
        tables.table(from, subject, table);
    }

    private void serve(Consumer<Throwable> failed) {
        try {
            TreeNode treeNode = part.treeNode();
            while (!stopped) {
                for (LongConsumer task = tasks.poll(); task != null && !stopped; task = tasks.poll()) {
                    task.accept(System.nanoTime());
                }
                Mailbox.Letter letter = mailbox.poll(Math.max(0, treeNode.due() - System.nanoTime()));
                for (int delivered = 1; letter != null; delivered++) {
                    // before the timer: a node that was paused has heartbeats in its mailbox
                    deliver(letter);
                    letter = delivered < MOST_LETTERS ? mailbox.poll(0) : null;
                }
                long now = System.nanoTime();
                if (treeNode.due() - now <= 0) {
                    treeNode.onTimer(now);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failed.accept(e);
        } catch (RuntimeException | Error e) {
            Messages.error("node " + node + " of the job has failed: " + e, e);
            failed.accept(e);
        }
    }

    private void deliver(Mailbox.Letter letter) {
        long now = System.nanoTime();
        try {
            if (Introduction.isOne(letter.message())) {
                introductions.received(letter.from(), letter.message(), now);
            } else {
                part.treeNode().onMessage(letter.from(), letter.message(), now);
            }
        } catch (MalformedMessage e) {
            warn(letter, e);
        }
    }

    /** Once for each sender and kind: a node of another version would fill the terminal. */
    private void warn(Mailbox.Letter letter, MalformedMessage e) {
        byte[] message = letter.message();
        String kind = message.length < 2 ? "short" : message[0] + "." + message[1];
        if (warned.size() < MOST_WARNINGS && warned.add(letter.from() + " " + kind)) {
            Messages.warn("node " + node + " dropped a message from node " + letter.from() + ", which is malformed: "
                    + e.getMessage());
        }
    }

    /** Waits for the task that is under way; no other begins. */
    @Override
    public void close() {
        stopped = true;
        mailbox.wake();
        if (thread != null && thread != Thread.currentThread()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
