package org.udckpt.coordination.protocol;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.udckpt.coordination.lookup.ControlChannel;
import org.udckpt.coordination.lookup.Fence;
import org.udckpt.coordination.lookup.TableCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.coordination.lookup.Totals;
import org.udckpt.coordination.tree.Call;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.coordination.tree.TreeListener;
import org.udckpt.coordination.tree.TreeNode;
import org.udckpt.coordination.tree.TreeTransport;

/**
 * All of one node's parts of the protocol, joined: who drives it tells {@link #treeNode} of messages and time, and the
 * parts of what was done.
 */
public final class NodeProtocol implements TreeListener {
    private static final byte ADDRESSES = 0, KEYS = 1, FENCE = 2, CONTROL = 3, TOTALS = 4, FACTS = 5;

    private final TreeNode treeNode;
    private final Participant participant;
    private final Coordinator coordinator;
    private final CoordinatorListener owner;
    private TableResolver addresses;
    private TableResolver keys;
    private TableResolver facts;
    private Fence fence;
    private ControlChannel control;
    private Totals totals;
    private long exchangeCall;
    private IntConsumer whenLost = node -> {};

    /**
     * @param owner at the root; null elsewhere
     * @see TreeNode#TreeNode the other parameters
     */
    public NodeProtocol(int self, int incarnation, Tree tree, Timing timing, Budgets budgets, TreeTransport links,
            Ranks ranks, CoordinatorListener owner, long now) {
        this.treeNode = new TreeNode(self, incarnation, tree, timing, links, this, now);
        this.participant = new Participant(treeNode, ranks);
        this.owner = owner;
        this.coordinator = self == 0 ? new Coordinator(treeNode, budgets, owner) : null;
    }

    /** For a node of a restarted job, before the first message: what takes part in EXCHANGE. */
    public TableResolver addresses(TableCache cache, TableResolver.Local local) {
        addresses = new TableResolver(ADDRESSES, treeNode, cache, local);
        return addresses;
    }

    /** For a node whose ranks are started by the job, before the first message: PMI's key-value space. */
    public TableResolver keys(TableCache cache, TableResolver.Local local) {
        keys = new TableResolver(KEYS, treeNode, cache, local);
        return keys;
    }

    /** Before the first message: what nodes tell each other by name, outside of calls. */
    public TableResolver facts(TableCache cache, TableResolver.Local local) {
        facts = new TableResolver(FACTS, treeNode, cache, local);
        return facts;
    }

    /** For the same nodes: PMI's barrier, at whose end all keys can be asked for that were registered before. */
    public Fence fence(LongConsumer released) {
        fence = new Fence(FENCE, treeNode, released);
        return fence;
    }

    /** Before the first message: notes between the root and the others, outside of calls. */
    public ControlChannel control(ControlChannel.Reader reader) {
        control = new ControlChannel(CONTROL, treeNode, reader);
        return control;
    }

    /** Before the first message: sums over all nodes. @see Totals#Totals */
    public Totals totals(Totals.Counts none, Consumer<Totals.Counts> changed) {
        totals = new Totals(TOTALS, treeNode, none, changed);
        return totals;
    }

    /** The listener that hears of each lost node before all others: the transport, which need not try any more. */
    public void whenLost(IntConsumer listener) {
        whenLost = listener;
    }

    public TreeNode treeNode() {
        return treeNode;
    }

    public Participant participant() {
        return participant;
    }

    /** At the root; null elsewhere. */
    public Coordinator coordinator() {
        return coordinator;
    }

    /** The node's share of EXCHANGE has ended: it has what it asked for. @param failure what is missing, or null */
    public void exchanged(String failure, long now) {
        treeNode.answer(exchangeCall, failure, new long[0], now);
    }

    @Override
    public void call(Call call, long now) {
        try {
            Request request = Request.of(call);
            if (request.op() != Op.EXCHANGE) {
                participant.asked(request, call.id(), now);
            } else if (addresses == null) {
                treeNode.answer(call.id(), "got a request for tables, but has none", new long[0], now);
            } else {
                exchangeCall = call.id();
                addresses.begin(now);
            }
        } catch (MalformedMessage e) {
            treeNode.answer(call.id(), e.getMessage(), new long[0], now);
        }
    }

    @Override
    public void ended(Call call, CallResult tally, long now) {
        coordinator.ended(call, tally, now);
    }

    @Override
    public void received(int from, byte[] body, long now) throws MalformedMessage {
        ByteBuffer message = ByteBuffer.wrap(body);
        int channel = message.hasRemaining() ? message.get() : -1;
        if (channel == ADDRESSES && addresses != null) {
            addresses.received(from, message, now);
        } else if (channel == KEYS && keys != null) {
            keys.received(from, message, now);
        } else if (channel == FACTS && facts != null) {
            facts.received(from, message, now);
        } else if (channel == FENCE && fence != null) {
            fence.received(from, message, now);
        } else if (channel == CONTROL && control != null) {
            control.received(from, message, now);
        } else if (channel == TOTALS && totals != null) {
            totals.received(from, message);
        } else {
            throw new MalformedMessage(
                    "a message of channel " + channel + " from node " + from + ", where nobody listens to it");
        }
    }

    @Override
    public void lost(int node, long now) {
        whenLost.accept(node);
        exchanges().forEach(exchange -> exchange.lost(node, now));
        if (fence != null) {
            fence.lost(now);
        }
        if (totals != null) {
            totals.lost(node);
        }
        if (owner != null) {
            owner.lost(node, now);
        }
    }

    @Override
    public void attached(int parent, long now) {
        exchanges().forEach(exchange -> exchange.attached(now));
        if (fence != null) {
            fence.attached(now);
        }
        if (control != null) {
            control.attached(now);
        }
    }

    private Stream<TableResolver> exchanges() {
        return Stream.of(addresses, keys, facts).filter(Objects::nonNull);
    }

    @Override
    public void over(String why, long now) {
        participant.over(why, now);
    }
}
