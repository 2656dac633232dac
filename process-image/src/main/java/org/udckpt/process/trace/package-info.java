/** ptrace: one thread for each traced process, registers, and system calls that are made in it. */
package org.udckpt.process.trace;
