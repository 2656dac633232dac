package org.udckpt.process.inherit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.process.model.AddressRanges;

/** Contents by address, not overlapping. */
final class ContentMap {
    private final TreeMap<Long, Content> parts = new TreeMap<>();

    ContentMap copy() {
        ContentMap copy = new ContentMap();
        copy.parts.putAll(parts);
        return copy;
    }

    Collection<Content> all() {
        return parts.values();
    }

    /** In the place of what is there. */
    void put(Content content) {
        for (Content old : over(content.start(), content.end())) {
            parts.remove(old.start());
            if (old.start() < content.start()) {
                parts.put(old.start(), old.cut(old.start(), content.start()));
            }
            if (old.end() > content.end()) {
                parts.put(content.end(), old.cut(content.end(), old.end()));
            }
        }
        parts.put(content.start(), content);
    }

    /** At the end; joined with what it goes on. */
    void append(Content content) {
        Map.Entry<Long, Content> last = parts.lastEntry();
        if (last != null && last.getValue().end() == content.start() && last.getValue().alike(content)
                && last.getValue().pid() == content.pid()) {
            Content before = last.getValue();
            parts.put(before.start(), new Content(before.start(), content.end(), before.pid(), before.block(),
                    before.bias(), before.kind()));
        } else {
            parts.put(content.start(), content);
        }
    }

    /** Where nothing is yet. */
    void fill(Content content) {
        for (Content free : pieces(content,
                AddressRanges.without(content.range(), ranges(over(content.start(), content.end()))))) {
            parts.put(free.start(), free);
        }
    }

    /** The parts of {@code wanted} that are here. */
    List<Content> same(Content wanted) {
        return pieces(wanted, alike(wanted));
    }

    /** The other parts of {@code wanted}. */
    List<Content> missing(Content wanted) {
        return pieces(wanted, AddressRanges.without(wanted.range(), alike(wanted)));
    }

    private long[] alike(Content wanted) {
        List<Content> alike = new ArrayList<>();
        for (Content here : over(wanted.start(), wanted.end())) {
            if (here.alike(wanted)) {
                alike.add(here.cut(wanted.start(), wanted.end()));
            }
        }
        return ranges(alike);
    }

    /** Contents that overlap [start, end). */
    List<Content> over(long start, long end) {
        Map.Entry<Long, Content> before = parts.lowerEntry(start);
        long from = before != null && before.getValue().end() > start ? before.getKey() : start;
        return new ArrayList<>(parts.subMap(from, end).values());
    }

    long[] ranges() {
        return ranges(parts.values());
    }

    static long[] ranges(Collection<Content> contents) {
        long[] ranges = new long[2 * contents.size()];
        int count = 0;
        for (Content content : contents) {
            ranges[count++] = content.start();
            ranges[count++] = content.end();
        }
        return ranges;
    }

    static List<Content> pieces(Content of, long[] ranges) {
        List<Content> pieces = new ArrayList<>();
        for (int i = 0; i < ranges.length; i += 2) {
            pieces.add(of.cut(ranges[i], ranges[i + 1]));
        }
        return pieces;
    }
}
