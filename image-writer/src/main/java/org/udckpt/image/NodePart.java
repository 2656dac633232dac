package org.udckpt.image;

import java.util.List;

/** What one node contributes to a checkpoint: what the manifest has to say about it. */
record NodePart(Manifest.Node node, List<Manifest.FileEntry> files, long bytes, long writeNanos) { }
