package org.udckpt.image;

/** A manifest as it was read, and the MAC it ended with: the name of exactly this checkpoint. */
record Sealed(Manifest manifest, String mac) { }
