package org.udckpt.process.kinds.netlink;

import org.udckpt.process.model.KernelObject;

/**
 * To where netlink socket {@code object} is connected (connect(2) of netlink(7)).
 *
 * @param port nl_pid; 0: the kernel
 * @param groups nl_groups, of which the lowest counts
 */
public record NetlinkPeer(long id, long object, int port, int groups) implements KernelObject {}
