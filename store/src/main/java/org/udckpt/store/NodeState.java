package org.udckpt.store;

import java.util.List;
import org.udckpt.address.AddressMap;
import org.udckpt.launch.pmi.PmiState;

/**
 * What must go with the processes of one node and is their agent's. Where one agent has all ranks, that is all of the
 * job.
 *
 * @param namedRuntime the runtime directory of the first incarnation, which the processes' environment names for ever
 * @param pmi what the node's own ranks have put, and how far each of them is
 * @param addresses a copy of those of the node's own queue pairs, as they were at the stop
 * @param peers keys of the queue pairs on other nodes that its ranks have asked for, see
 *     {@link org.udckpt.address.AddressAuthority#peers}
 */
public record NodeState(String namedRuntime, PmiState pmi, AddressMap addresses, List<Long> peers) {}
