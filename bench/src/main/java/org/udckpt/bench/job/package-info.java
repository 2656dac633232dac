/**
 * A described application under udckpt: who starts it, over what, and its incarnations from their start to their end.
 */
package org.udckpt.bench.job;
