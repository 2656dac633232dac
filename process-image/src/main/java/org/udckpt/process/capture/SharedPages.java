package org.udckpt.process.capture;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.udckpt.process.model.Overlaps;
import org.udckpt.process.model.SharedRange;

/**
 * Finds the private memory that the processes of a tree have in common, as fork(2) leaves it: the same pages at the
 * same addresses. The bytes of the snapshots are compared, while the job runs; so it needs no rights, and no page that
 * was moved meanwhile is taken for another one. Where the numbers of the pages' frames can be seen, pages in different
 * frames are not looked at: what is not shared costs root no reading.
 */
final class SharedPages implements AutoCloseable {
    private static final int PAGE = 4096;
    /** Pages of one process that are compared at a time, and of all of them together. */
    private static final int WINDOW = 64, MOST = 4096;

    private final List<Snapshot> snapshots;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment[] bytes;
    private final boolean[] there;
    private final long[][] frames;
    private final int[][] owners;
    private final PageFrames[] numbers;
    private final MemorySegment entries = arena.allocate((long) WINDOW * Long.BYTES, Long.BYTES);
    private final List<List<SharedRange>> found = new ArrayList<>();
    private final int window;

    private SharedPages(List<Snapshot> snapshots) {
        int count = snapshots.size();
        this.snapshots = snapshots;
        this.window = Math.max(1, Math.min(WINDOW, MOST / count));
        this.bytes = new MemorySegment[count];
        this.there = new boolean[count];
        this.frames = new long[count][window];
        this.owners = new int[count][window];
        this.numbers = new PageFrames[count];
        snapshots.forEach(_ -> found.add(new ArrayList<>()));
    }

    /**
     * Tells each snapshot what it has in common with those before it.
     *
     * @param tree snapshots of its processes, which stand still; their pages have been scanned
     */
    static void find(List<Snapshot> tree) {
        if (tree.size() > 1) {
            ForkFamily.of(tree).stream().filter(family -> family.size() > 1).forEach(SharedPages::compare);
        }
    }

    private static void compare(List<Snapshot> family) {
        try (SharedPages pages = new SharedPages(family)) {
            Overlaps.of(family.stream().map(Snapshot::forkedExtents).toList(), pages::compare);
            for (int i = 0; i < family.size(); i++) {
                family.get(i).shared(pages.found.get(i));
            }
        }
    }

    /** @param members ascending: those that have memory in all of [start, end) */
    private void compare(long start, long end, int[] members) {
        for (long at = start; at < end; at += (long) window * PAGE) {
            compare(at, (int) Math.min(window, (end - at) / PAGE), members);
        }
    }

    private void compare(long at, int pages, int[] members) {
        for (int member : members) {
            there[member] = false;
            numbers(member).read(at, pages, frames[member], entries);
        }
        for (int i = 0; i < members.length; i++) {
            int member = members[i];
            for (int page = 0; page < pages; page++) {
                owners[member][page] = owner(at, page, pages, member, members, i);
            }
            note(at, pages, member);
        }
    }

    /** The first of them that has this page too; the member itself where none before it has. */
    private int owner(long at, int page, int pages, int member, int[] members, int before) {
        for (int i = 0; i < before; i++) {
            int other = members[i];
            if (owners[other][page] == other && !differentFrames(page, other, member)
                    && alike(at, page, pages, other, member)) {
                return other;
            }
        }
        return member;
    }

    private boolean differentFrames(int page, int a, int b) {
        return frames[a][page] != 0 && frames[b][page] != 0 && frames[a][page] != frames[b][page];
    }

    private boolean alike(long at, int page, int pages, int a, int b) {
        long from = (long) page * PAGE;
        return MemorySegment.mismatch(bytes(at, pages, a), from, from + PAGE, bytes(at, pages, b), from, from + PAGE)
                < 0;
    }

    private MemorySegment bytes(long at, int pages, int member) {
        if (bytes[member] == null) {
            bytes[member] = arena.allocate((long) window * PAGE, PAGE);
        }
        if (!there[member]) {
            snapshots.get(member).read(at, bytes[member].asSlice(0, (long) pages * PAGE));
            there[member] = true;
        }
        return bytes[member];
    }

    private PageFrames numbers(int member) {
        if (numbers[member] == null) {
            numbers[member] = new PageFrames(snapshots.get(member).pagemap());
        }
        return numbers[member];
    }

    private void note(long at, int pages, int member) {
        List<SharedRange> ranges = found.get(member);
        for (int page = 0; page < pages; page++) {
            int owner = owners[member][page];
            if (owner == member) {
                continue;
            }
            long start = at + (long) page * PAGE;
            SharedRange last = ranges.isEmpty() ? null : ranges.getLast();
            if (last != null && last.end() == start && last.with() == snapshots.get(owner).id()) {
                ranges.set(ranges.size() - 1, new SharedRange(last.start(), start + PAGE, last.with()));
            } else {
                ranges.add(new SharedRange(start, start + PAGE, snapshots.get(owner).id()));
            }
        }
    }

    @Override
    public void close() {
        Arrays.stream(numbers).filter(one -> one != null).forEach(PageFrames::close);
        arena.close();
    }
}
