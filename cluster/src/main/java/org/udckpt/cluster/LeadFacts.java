package org.udckpt.cluster;

import org.udckpt.coordination.lookup.KeyCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.support.report.Messages;

/** The root of what nodes tell each other by name ({@link NodeFacts}): the lead knows all of it, and asks for none. */
final class LeadFacts implements TableResolver.Local {
    /** Before the node's first message. */
    LeadFacts(NodeHandle node) {
        TableResolver facts = node.part().facts(new KeyCache(NodeFacts.WHAT), this);
        node.thread().execute(facts::complete);
    }

    @Override
    public void begin(long now) {
        throw new IllegalStateException("facts take no part in EXCHANGE");
    }

    @Override
    public void answered(int number, long[] absent, long now) {
        throw new IllegalStateException("the lead asks for no facts");
    }

    @Override
    public void refused(String why, long now) {
        Messages.error(why, null);
    }
}
