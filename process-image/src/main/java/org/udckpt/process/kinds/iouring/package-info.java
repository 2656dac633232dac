/** Rings of system calls (io_uring(7)). */
package org.udckpt.process.kinds.iouring;
