/**
 * What the kinds of sockets have in common: options, queues, ports, and how they are made in this process and handed
 * over.
 */
package org.udckpt.process.kinds.socket;
