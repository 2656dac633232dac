package org.udckpt.coordination.lookup;

import java.util.List;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeTransport;

/** What a node knows of a table whose entries have keys of 64 bits. Keys are given in growing order, each once. */
public interface TableCache {
    /** The most bytes of one message's entries. */
    int MAX_BYTES = TreeTransport.MAX_MESSAGE_BYTES - 1024;

    /**
     * Keeps entries, also known ones that have moved, and again.
     *
     * @return their keys, in any order
     * @throws MalformedMessage if they are none of this table
     * @throws RefusedEntries   if some contradict what is known; the others are kept
     */
    long[] add(byte[] entries) throws MalformedMessage, RefusedEntries;

    /** The keys that are not in the cache. */
    long[] missing(long[] keys);

    /** The entries of those keys that are known, as {@link #add} takes them, each at most {@link #MAX_BYTES} long. */
    List<byte[]> find(long[] keys);
}
