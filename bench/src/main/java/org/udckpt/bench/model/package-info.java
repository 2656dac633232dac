/**
 * What checkpoints cost a job of any size on storage of any speed, from a few measured numbers ({@code udckpt bench
 * model}, docs/operator/capacity.md). {@link org.udckpt.bench.model.Workload}, {@link org.udckpt.bench.model.Storage}
 * and {@link org.udckpt.bench.model.Costs} go in, a {@link org.udckpt.bench.model.Prediction} comes out. Bytes,
 * seconds, bytes a second throughout.
 */
package org.udckpt.bench.model;
