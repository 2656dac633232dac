/** {@code udckpt check}: whether this machine can run, checkpoint and restart jobs. */
package org.udckpt.job.check;
