package org.udckpt.bench.micro;

/**
 * What a small benchmark came to; less is better.
 *
 * @param error half the width of its 99.9% confidence interval; 0: a count
 * @param unit of both
 */
record Score(String name, double value, double error, String unit) {}
