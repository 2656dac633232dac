/** UDP sockets. */
package org.udckpt.process.kinds.udp;
