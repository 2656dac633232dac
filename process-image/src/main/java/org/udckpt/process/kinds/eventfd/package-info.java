/** Event counters. */
package org.udckpt.process.kinds.eventfd;
