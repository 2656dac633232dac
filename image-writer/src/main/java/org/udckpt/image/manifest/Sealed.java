package org.udckpt.image.manifest;

import org.udckpt.image.Manifest;

/** A manifest as it was read, and the MAC it ended with: the name of exactly this checkpoint. */
public record Sealed(Manifest manifest, String mac) {}
