/**
 * Checkpoint images: what every part of the format shares. The parts, each knowing only those before it:
 *
 * <ul> <li>{@code table} (Arrow tables of records), {@code storage} (the file system), {@code key} (seal and
 * encryption) <li>{@code block}: what stripe files are made of <li>{@code manifest}: the file that makes a checkpoint
 * exist <li>{@code directory}: the directory that checkpoints are in <li>{@code write} and {@code read}, which do not
 * know each other <li>{@code catalogue}: all checkpoints of a job, on all tiers </ul>
 *
 * <p>Images know extents of memory and tables of records. They do not know processes: what a record means, and where
 * the bytes of an address come from, is the caller's business ({@link org.udckpt.image.write.PageSource}). The format
 * is described in docs/reference/image-format.md.
 */
package org.udckpt.image;
