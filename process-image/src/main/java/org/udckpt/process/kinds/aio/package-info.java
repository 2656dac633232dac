/** Asynchronous I/O of the kernel (io_setup(2)). */
package org.udckpt.process.kinds.aio;
