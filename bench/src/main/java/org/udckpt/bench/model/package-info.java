/**
 * What checkpoints cost a job of any size on storage of any speed, from a few measured numbers ({@code udckpt bench
 * model}, docs/operator/capacity.md). {@link ModelWorkload}, {@link Storage} and {@link Costs} go in, a {@link
 * Prediction} comes out. Bytes, seconds, bytes a second throughout.
 */
package org.udckpt.bench.model;
