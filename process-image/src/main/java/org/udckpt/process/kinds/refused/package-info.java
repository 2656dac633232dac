/** Kinds of descriptors without a name that cannot be captured. */
package org.udckpt.process.kinds.refused;
