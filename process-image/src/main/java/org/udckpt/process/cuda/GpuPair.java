package org.udckpt.process.cuda;

/**
 * Where what was on one GPU comes back.
 *
 * @param before UUID at the checkpoint
 * @param after UUID of the GPU that it is restored on
 */
public record GpuPair(String before, String after) {}
