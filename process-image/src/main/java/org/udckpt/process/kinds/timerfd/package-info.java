/** Timer descriptors. */
package org.udckpt.process.kinds.timerfd;
