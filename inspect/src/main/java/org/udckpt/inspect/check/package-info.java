/** {@code udckpt check}: whether this machine can run, checkpoint and restart jobs. */
package org.udckpt.inspect.check;
