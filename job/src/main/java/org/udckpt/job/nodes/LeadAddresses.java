package org.udckpt.job.nodes;

import java.nio.file.Path;
import org.udckpt.job.exchange.AddressShelf;
import org.udckpt.job.exchange.Exchange;
import org.udckpt.job.report.Messages;

/** The whole job's addresses, hosts of GIDs and remote keys, at the root of its tree, which has no ranks itself. */
public final class LeadAddresses implements Exchange.Local, AutoCloseable {
    private static final int ENDPOINTS_PER_RANK = 2;

    private final NodeHandle node;
    private final AddressShelf shelf;
    private final Exchange exchange;

    /**
     * Before the first message.
     *
     * @param file where the shelf's table is made, see {@link AddressShelf}
     */
    public LeadAddresses(NodeHandle node, NodeJob job, Path file) {
        this.node = node;
        this.shelf = new AddressShelf(file, ENDPOINTS_PER_RANK * job.ranks(), job.generation());
        this.exchange = node.part().addresses(shelf, this);
        new LeadFacts(node);
        if (job.image() == null) {
            node.thread().execute(exchange::complete);
        }
    }

    @Override
    public void begin(long now) {
        exchange.complete(now);
        node.part().exchanged(null, now);
    }

    @Override
    public void answered(int number, long[] absent, long now) {
        throw new IllegalStateException("the lead asks for no addresses");
    }

    @Override
    public void refused(String why, long now) {
        Messages.error("addresses: " + why, null);
    }

    /** When the node's thread has ended. */
    @Override
    public void close() {
        shelf.close();
    }
}
