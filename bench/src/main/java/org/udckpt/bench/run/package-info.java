/**
 * {@code udckpt bench run}: applications as they are, with the library, with checkpoints and from a checkpoint,
 * measured as pairs in one run.
 */
package org.udckpt.bench.run;
