package org.udckpt.process.inherit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.model.Overlaps;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.StoredRange;

/**
 * What several processes of one tree have in common, as the image stores it: the same bytes at the same address, in
 * mappings of one kind.
 */
final class CommonContents {
    /** By pid; of each of the tree. */
    private final Map<Integer, ContentMap> common = new HashMap<>();
    private final List<Span> spans = new ArrayList<>();

    CommonContents(List<Integer> tree, Map<Integer, List<Region>> regions, Map<Integer, List<StoredRange>> stored) {
        tree.forEach(pid -> common.put(pid, new ContentMap()));
        Set<Object> blocks = ofSeveral(stored);
        if (!blocks.isEmpty()) {
            blocks.add(StoredRange.ZEROS);
            find(tree.stream().map(pid -> contents(pid, regions.getOrDefault(pid, List.of()),
                    stored.getOrDefault(pid, List.of()).stream().filter(range -> blocks.contains(range.block()))
                            .toList()))
                    .toList(), tree);
            tree.forEach(pid -> addSpans(regions.getOrDefault(pid, List.of()), common.get(pid)));
            join();
        }
    }

    /** The blocks that several processes have parts of: none, as a rule. */
    private static Set<Object> ofSeveral(Map<Integer, List<StoredRange>> stored) {
        Map<Object, Integer> first = new HashMap<>();
        Set<Object> several = new HashSet<>();
        stored.forEach((pid, ranges) -> {
            for (StoredRange range : ranges) {
                Integer other = first.putIfAbsent(range.block(), pid);
                if (other != null && !other.equals(pid)) {
                    several.add(range.block());
                }
            }
        });
        several.remove(StoredRange.ZEROS);
        return several;
    }

    private void find(List<List<Content>> contents, List<Integer> tree) {
        int[] at = new int[tree.size()];
        Overlaps.of(contents.stream().map(ContentMap::ranges).toList(), (start, end, members) -> {
            Content[] here = new Content[members.length];
            for (int i = 0; i < members.length; i++) {
                List<Content> own = contents.get(members[i]);
                while (own.get(at[members[i]]).end() <= start) {
                    at[members[i]]++;
                }
                here[i] = own.get(at[members[i]]).cut(start, end);
            }
            for (int i = 0; i < here.length; i++) {
                for (int j = 0; j < here.length; j++) {
                    if (i != j && here[i].alike(here[j])) {
                        common.get(tree.get(members[i])).append(here[i]);
                        break;
                    }
                }
            }
        });
    }

    /** The contents of this process that can be inherited. */
    private static List<Content> contents(int pid, List<Region> regions, List<StoredRange> stored) {
        List<Region> sorted = regions.stream().sorted(Comparator.comparingLong(Region::start)).toList();
        List<MappingKind> kinds =
                java.util.Arrays.asList(sorted.stream().map(MappingKind::of).toArray(MappingKind[]::new));
        List<Content> contents = new ArrayList<>();
        int next = 0;
        for (StoredRange range : stored) {
            while (next < sorted.size() && sorted.get(next).end() <= range.start()) {
                next++;
            }
            for (int i = next; i < sorted.size() && sorted.get(i).start() < range.end(); i++) {
                MappingKind kind = kinds.get(i);
                if (kind != null) {
                    contents.add(new Content(Math.max(range.start(), sorted.get(i).start()),
                            Math.min(range.end(), sorted.get(i).end()), pid, range.block(),
                            range.offset() - range.start(), kind));
                }
            }
        }
        return contents;
    }

    private void addSpans(List<Region> regions, ContentMap contents) {
        for (Region region : regions) {
            MappingKind kind = MappingKind.of(region);
            if (kind != null && !contents.over(region.start(), region.end()).isEmpty()) {
                spans.add(new Span(region.start(), region.end(), kind));
            }
        }
    }

    /** Spans of one kind that overlap or touch become one, as they do in a process that maps them. */
    private void join() {
        spans.sort(Comparator.comparing((Span span) -> span.kind().path()).thenComparing(span -> span.kind().flags())
                .thenComparingLong(span -> span.kind().fileBias())
                .thenComparingLong(Span::start));
        List<Span> joined = new ArrayList<>();
        for (Span span : spans) {
            Span last = joined.isEmpty() ? null : joined.getLast();
            if (last != null && last.kind().equals(span.kind()) && last.touches(span)) {
                joined.set(joined.size() - 1, new Span(last.start(), Math.max(last.end(), span.end()), span.kind()));
            } else {
                joined.add(span);
            }
        }
        spans.clear();
        spans.addAll(joined);
    }

    boolean none() {
        return spans.isEmpty();
    }

    ContentMap of(int pid) {
        return common.getOrDefault(pid, new ContentMap());
    }

    /** Where that content lies. */
    Span span(Content content) {
        return spans.stream()
                .filter(span -> span.kind().equals(content.kind()) && span.holds(content.start(), content.end()))
                .findFirst().orElseThrow();
    }
}
