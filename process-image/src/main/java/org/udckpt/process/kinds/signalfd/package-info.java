/** Signal descriptors. */
package org.udckpt.process.kinds.signalfd;
