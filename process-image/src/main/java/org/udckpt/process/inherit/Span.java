package org.udckpt.process.inherit;

/** One mapping as it is inherited: large enough for the mappings of all processes that have some of it. */
public record Span(long start, long end, MappingKind kind) {
    boolean touches(Span other) {
        return start <= other.end && other.start <= end;
    }

    boolean overlaps(Span other) {
        return start < other.end && other.start < end;
    }

    boolean holds(long from, long to) {
        return start <= from && to <= end;
    }
}
