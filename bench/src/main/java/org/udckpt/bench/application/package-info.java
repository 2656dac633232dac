/**
 * {@code bench/applications}: the described applications with checkpoints, kills and restarts, judged by their own
 * results.
 */
package org.udckpt.bench.application;
