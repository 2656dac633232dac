/**
 * What stripe files are made of: chunks of memory, the blocks that hold them, and the hashes and checksums over both.
 */
package org.udckpt.image.block;
