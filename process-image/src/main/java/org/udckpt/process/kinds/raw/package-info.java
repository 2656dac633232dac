/** Raw sockets, and those that send pings. */
package org.udckpt.process.kinds.raw;
