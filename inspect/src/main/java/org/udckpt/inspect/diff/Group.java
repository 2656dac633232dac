package org.udckpt.inspect.diff;

import org.udckpt.inspect.view.RegionKind;

/**
 * The private memory of a process in mappings of one kind and name.
 *
 * @param name path, "[heap]", ... or ""
 * @param olderBytes mapped in the older checkpoint; {@code newerBytes} in the newer
 */
public record Group(RegionKind kind, String name, long olderBytes, long newerBytes, PageCounts pages) {}
