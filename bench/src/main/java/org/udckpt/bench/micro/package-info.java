/**
 * {@code udckpt bench micro}: JMH for the hot paths in Java, callgrind's counts (bench/overhead) for those in C,
 * against the committed results.
 */
package org.udckpt.bench.micro;
