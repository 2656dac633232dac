/** Packet sockets. */
package org.udckpt.process.kinds.packet;
