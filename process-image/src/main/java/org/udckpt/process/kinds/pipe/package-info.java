/** Pipes and FIFOs. */
package org.udckpt.process.kinds.pipe;
