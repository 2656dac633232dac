/** Kinds that a restart opens again by name, with no content in the image. */
package org.udckpt.process.kinds.named;
