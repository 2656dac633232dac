package org.udckpt.store;

/**
 * Which memory an image's process number stands for.
 *
 * @param number of the memory in the image, from 1
 * @param process true: {@code id} is a pid; false: the id of a SharedMemory
 */
public record MemoryRow(int number, boolean process, long id) {}
