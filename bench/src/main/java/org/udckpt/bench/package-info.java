/** Entry of {@code udckpt bench} and {@code udckpt demo}, and how benchmarks run the {@code udckpt} command. */
package org.udckpt.bench;
