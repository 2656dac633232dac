/**
 * What {@code udckpt bench run} writes and {@code udckpt bench report} reads: rows of an Arrow file and of a CSV file.
 */
package org.udckpt.bench.measured;
