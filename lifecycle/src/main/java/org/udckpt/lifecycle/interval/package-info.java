/** When checkpoints are due: intervals from their cost and the mean time between failures. */
package org.udckpt.lifecycle.interval;
