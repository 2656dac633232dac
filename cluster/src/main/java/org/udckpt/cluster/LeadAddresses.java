package org.udckpt.cluster;

import java.nio.file.Path;
import org.udckpt.coordination.lookup.AddressCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.support.report.Messages;

/** The whole job's addresses, hosts of GIDs and remote keys, at the root of its tree, which has no ranks itself. */
public final class LeadAddresses implements TableResolver.Local, AutoCloseable {
    private static final int ENDPOINTS_PER_RANK = 2;

    private final NodeHandle node;
    private final AddressCache cache;
    private final TableResolver exchange;

    /**
     * Before the first message.
     *
     * @param file where the cache's table is made, see {@link AddressCache}
     */
    public LeadAddresses(NodeHandle node, NodeJob job, Path file) {
        this.node = node;
        this.cache = new AddressCache(file, ENDPOINTS_PER_RANK * job.ranks(), job.generation());
        this.exchange = node.part().addresses(cache, this);
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
        cache.close();
    }
}
