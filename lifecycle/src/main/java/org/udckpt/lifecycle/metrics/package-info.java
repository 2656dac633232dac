/** Numbers of a running job for those who watch many of them: a file, an HTTP address (docs/operator/metrics.md). */
package org.udckpt.lifecycle.metrics;
