package org.udckpt.job.coordinator;

import org.udckpt.job.exchange.Exchange;
import org.udckpt.job.tree.Call;
import org.udckpt.job.tree.Links;
import org.udckpt.job.tree.MalformedMessage;
import org.udckpt.job.tree.Member;
import org.udckpt.job.tree.Part;
import org.udckpt.job.tree.Tally;
import org.udckpt.job.tree.Timing;
import org.udckpt.job.tree.Tree;

/** All of one node's parts of the protocol, joined: who drives it tells {@link #member} of messages and time, and the parts of what was done. */
public final class NodePart implements Part {
    private final Member member;
    private final Participant participant;
    private final Coordinator coordinator;
    private final Owner owner;
    private Exchange exchange;
    private long exchangeCall;

    /**
     * @param owner at the root; null elsewhere
     * @see Member#Member the other parameters
     */
    public NodePart(int self, int life, Tree tree, Timing timing, Budgets budgets, Links links, Ranks ranks, Owner owner, long now) {
        this.member = new Member(self, life, tree, timing, links, this, now);
        this.participant = new Participant(member, ranks);
        this.owner = owner;
        this.coordinator = self == 0 ? new Coordinator(member, budgets, owner) : null;
    }

    /** For a node of a restarted job, before the first message: what takes part in EXCHANGE. */
    public void exchange(Exchange part) {
        exchange = part;
    }

    public Member member() {
        return member;
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
        member.answer(exchangeCall, failure, new long[0], now);
    }

    @Override
    public void call(Call call, long now) {
        try {
            Request request = Request.of(call);
            if (request.op() != Op.EXCHANGE) {
                participant.asked(request, call.id(), now);
            } else if (exchange == null) {
                member.answer(call.id(), "was asked for its tables, and has none", new long[0], now);
            } else {
                exchangeCall = call.id();
                exchange.begin(now);
            }
        } catch (MalformedMessage e) {
            member.answer(call.id(), e.getMessage(), new long[0], now);
        }
    }

    @Override
    public void ended(Call call, Tally tally, long now) {
        coordinator.ended(call, tally, now);
    }

    @Override
    public void received(int from, byte[] body, long now) throws MalformedMessage {
        if (exchange == null) {
            throw new MalformedMessage("a table from node " + from + ", where none is exchanged");
        }
        exchange.received(from, body, now);
    }

    @Override
    public void lost(int node, long now) {
        if (exchange != null) {
            exchange.lost(node, now);
        }
        if (owner != null) {
            owner.lost(node, now);
        }
    }

    @Override
    public void attached(int parent, long now) {
        if (exchange != null) {
            exchange.attached(now);
        }
    }

    @Override
    public void over(String why, long now) {
        participant.over(why, now);
    }
}
