/** Netlink sockets. */
package org.udckpt.process.kinds.netlink;
