/** Which private memory the job's processes have written to since a checkpoint: the kernel knows it (Linux 6.7). */
package org.udckpt.process.tracking;
