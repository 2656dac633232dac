package org.udckpt.transport;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.coordination.tree.Call;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.coordination.tree.TreeListener;
import org.udckpt.coordination.tree.TreeNode;

/**
 * A member of the tree over an endpoint, in a thread of its own, for tests: its work in a call is to say its number.
 */
final class LinkedNode implements TreeListener, Inbox, AutoCloseable {
    /** @param body of the call that it ended */
    record Ended(byte[] body, CallResult tally) {}

    final TransportEndpoint endpoint;
    final BlockingQueue<Ended> ended = new LinkedBlockingQueue<>();
    final List<String> ends = Collections.synchronizedList(new ArrayList<>());
    private final Mailbox mailbox = new Mailbox(1 << 20);
    private final BlockingQueue<Call> begun = new LinkedBlockingQueue<>();
    private final int node;
    private volatile boolean stopped;
    private TreeNode member;
    private Thread thread;

    LinkedNode(int node, JobCredential credential, TransportLimits limits) throws IOException {
        this.node = node;
        endpoint = new TransportEndpoint(node, Nodes.COUNT, Nodes.address(node, 0), credential, this, limits);
    }

    /** After the endpoint knows the others. */
    void start(Tree tree, Timing timing) {
        member = new TreeNode(node, 1, tree, timing, endpoint, this, System.nanoTime());
        thread = Thread.ofPlatform().daemon().name("member " + node).start(this::serve);
    }

    /** At the root: to be called by the member's thread. */
    void call(byte[] body) {
        begun.add(new Call(1, 7, false, 60_000_000_000L, body));
    }

    private void serve() {
        try {
            while (!stopped) {
                for (Call call = begun.poll(); call != null; call = begun.poll()) {
                    member.call(call.op(), call.all(), call.budget(), call.body(), System.nanoTime());
                }
                Mailbox.Letter letter = mailbox.poll(Math.clamp(member.due() - System.nanoTime(), 0, 2_000_000));
                if (letter != null) {
                    member.onMessage(letter.from(), letter.message(), System.nanoTime());
                }
                if (member.due() - System.nanoTime() <= 0) {
                    member.onTimer(System.nanoTime());
                }
            }
        } catch (InterruptedException e) {
            // stop() wants the end
        } catch (MalformedMessage e) {
            ends.add("malformed: " + e.getMessage());
        }
    }

    @Override
    public void call(Call call, long now) {
        member.answer(call.id(), null, new long[]{node, call.body().length}, now);
    }

    @Override
    public void ended(Call call, CallResult tally, long now) {
        ended.add(new Ended(call.body(), tally));
    }

    @Override
    public void received(int from, byte[] body, long now) throws MalformedMessage {
        throw new MalformedMessage("nobody posts here");
    }

    @Override
    public void lost(int lost, long now) {
        // the tally says it
    }

    @Override
    public void attached(int parent, long now) {
        // has nothing to ask again
    }

    @Override
    public void over(String why, long now) {
        ends.add(why);
    }

    @Override
    public void message(int from, byte[] message) throws InterruptedException {
        mailbox.put(from, message);
    }

    @Override
    public void table(int from, byte[] subject, VectorSchemaRoot table) {
        throw new IllegalStateException("no node sends tables here");
    }

    /** The node is dead from now on: it neither hears nor says anything. */
    @Override
    public void close() {
        stopped = true;
        if (thread != null) {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        endpoint.close();
    }
}
