package org.udckpt.image.read;

import java.util.List;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;

/** The two tables about a node's memory: rows as they are in the files, not yet checked. */
record MemoryTables(List<Block> blocks, List<Chunk> chunks) {}
