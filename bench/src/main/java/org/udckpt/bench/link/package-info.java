/** Benchmarks of the connections between the hosts of a job: cost and memory of each. */
package org.udckpt.bench.link;
