/** Benchmarks of image writing and reading, without a job. */
package org.udckpt.bench.image;
