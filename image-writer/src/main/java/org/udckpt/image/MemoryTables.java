package org.udckpt.image;

import java.util.List;

/** The two tables about a node's memory: rows as they are in the files, not yet checked. */
record MemoryTables(List<Block> blocks, List<Chunk> chunks) { }
