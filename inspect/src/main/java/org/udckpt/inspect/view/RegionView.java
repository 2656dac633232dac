package org.udckpt.inspect.view;

import org.udckpt.process.model.Region;

/**
 * A mapping.
 *
 * @param stored bytes of it that the image holds as the process's own; a shared object's contents are not among them
 * @param common what of that is stored once for this and other processes
 */
public record RegionView(Region region, RegionKind kind, long stored, long common) {}
