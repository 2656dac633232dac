/**
 * Descriptions of applications that can be run here ({@code bench/workloads/NAME/workload},
 * docs/contributing/workloads.md), and what their results have to be.
 */
package org.udckpt.bench.workload;
