/** Descriptors of processes and threads. */
package org.udckpt.process.kinds.pidfd;
