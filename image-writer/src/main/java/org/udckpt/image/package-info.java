/**
 * Checkpoint images: their format, the pipeline that writes them, the reader and the catalogue.
 *
 * <p>This package knows extents of memory and tables of records. It does not know processes: what a record means,
 * and where the bytes of an address come from, is the caller's business ({@link org.udckpt.image.PageSource}).
 * The format is described in docs/image-format.md.
 */
package org.udckpt.image;
