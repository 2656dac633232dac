/** Filters of system calls. */
package org.udckpt.process.kinds.seccomp;
