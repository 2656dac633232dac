package org.udckpt.cluster;

import org.udckpt.coordination.lookup.Fence;
import org.udckpt.coordination.lookup.KeyCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.support.report.Messages;

/**
 * The lead's part in PMI: the root of the exchange of keys, which knows all that were put, and of the barriers. It has
 * no ranks, so that it is in each barrier at once.
 */
public final class LeadPmi {
    private final TableResolver keys;
    private final Fence fence;

    /** Before the node's first message. */
    public LeadPmi(NodeHandle node) {
        this.keys = node.part().keys(new KeyCache("PMI key"), new Local());
        this.fence = node.part().fence(this::enter);
        node.thread().execute(now -> {
            keys.complete(now);
            enter(now);
        });
    }

    private void enter(long now) {
        fence.enter(now);
    }

    /** For DRAIN: messages that begin and that end here, see {@link NodePmi#counts}. */
    public long[] counts() {
        long received = keys.traffic().received() + fence.traffic().received();
        return new long[]{keys.traffic().sent() + fence.traffic().sent(), received};
    }

    private static final class Local implements TableResolver.Local {
        @Override
        public void begin(long now) {
            throw new IllegalStateException("keys take no part in EXCHANGE");
        }

        @Override
        public void answered(int number, long[] absent, long now) {
            throw new IllegalStateException("the lead asks for no keys");
        }

        @Override
        public void refused(String why, long now) {
            Messages.error(why, null); // nobody is above it who could say so
        }
    }
}
