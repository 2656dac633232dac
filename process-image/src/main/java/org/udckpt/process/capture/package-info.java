/** Capture of running processes with ptrace: stop, snapshot, and the state that a snapshot does not hold. */
package org.udckpt.process.capture;
