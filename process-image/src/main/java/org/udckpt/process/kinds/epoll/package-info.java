/** Epoll descriptors and what they watch. */
package org.udckpt.process.kinds.epoll;
