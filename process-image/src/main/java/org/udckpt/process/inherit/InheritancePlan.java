package org.udckpt.process.inherit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.StoredRange;
import org.udckpt.process.tree.TreeStep;

/**
 * How processes come to share again what their image stores once: the one that forks has it in its memory, at its
 * address, when it forks. What a process has changed since its own fork it gets over that, when all its children are
 * there. It is done for what two of them have in common; who made a process at first does not matter, only who makes it
 * now.
 */
public final class InheritancePlan {
    /** No process shares anything. */
    public static final InheritancePlan NOTHING = new InheritancePlan();

    /** A process between its making and the last of its forks. */
    private static final class State {
        final ContentMap held;
        final List<Span> mapped;
        /** What it has for good, and a child has got it. */
        final ContentMap given = new ContentMap();

        State(ContentMap held, List<Span> mapped) {
            this.held = held;
            this.mapped = new ArrayList<>(mapped);
        }
    }

    private final Map<Integer, Integer> roots = new HashMap<>();
    private final Map<Integer, List<Integer>> forks = new HashMap<>();
    private final Map<Integer, CommonContents> trees = new HashMap<>();
    private final Map<Integer, ContentMap> wants = new HashMap<>();
    private final Map<Integer, State> states = new HashMap<>();
    private final Map<Integer, ForkPreparation> stagings = new HashMap<>();
    private final Map<Integer, Inherited> inherited = new HashMap<>();

    private InheritancePlan() {}

    /**
     * @param steps   in which the processes are made
     * @param regions of each process, by pid
     * @param sources asked only of processes in trees of several
     */
    public static InheritancePlan of(List<TreeStep> steps, Map<Integer, List<Region>> regions, StoredBy sources) {
        InheritancePlan plan = new InheritancePlan();
        plan.findTrees(steps);
        plan.findCommon(regions, sources);
        if (!plan.trees.isEmpty()) {
            for (TreeStep step : steps) {
                plan.go(step);
            }
            regions.forEach((pid, own) -> plan.inherited.put(pid, plan.result(pid, own)));
        }
        return plan;
    }

    /** Where the image has the memory of a process. */
    @FunctionalInterface
    public interface StoredBy {
        List<StoredRange> of(int pid);
    }

    private void findTrees(List<TreeStep> steps) {
        for (TreeStep step : steps) {
            if (step instanceof TreeStep.Root root) {
                roots.put(root.pid(), root.pid());
            } else if (step instanceof TreeStep.Fork fork) {
                roots.put(fork.pid(), roots.get(fork.maker()));
                forks.computeIfAbsent(fork.maker(), _ -> new ArrayList<>()).add(fork.pid());
            }
        }
    }

    private void findCommon(Map<Integer, List<Region>> regions, StoredBy sources) {
        Map<Integer, List<Integer>> members = new HashMap<>();
        regions.keySet().stream().sorted().filter(roots::containsKey)
                .forEach(pid -> members.computeIfAbsent(roots.get(pid), _ -> new ArrayList<>()).add(pid));
        members.forEach((root, tree) -> {
            if (tree.size() > 1) {
                Map<Integer, List<StoredRange>> stored = new HashMap<>();
                tree.forEach(pid -> stored.put(pid, sources.of(pid)));
                CommonContents common = new CommonContents(tree, regions, stored);
                if (!common.none()) {
                    trees.put(root, common);
                }
            }
        });
    }

    private ContentMap common(int pid) {
        CommonContents tree = trees.get(roots.get(pid));
        return tree == null ? new ContentMap() : tree.of(pid);
    }

    /**
     * What a process, and those below it, have in common with others; of two contents at one address that of the one
     * that is made first.
     */
    private ContentMap wants(int pid) {
        ContentMap known = wants.get(pid);
        if (known == null) {
            known = common(pid).copy();
            for (int child : forks.getOrDefault(pid, List.of())) {
                wants(child).all().forEach(known::fill);
            }
            wants.put(pid, known);
        }
        return known;
    }

    private void go(TreeStep step) {
        if (step instanceof TreeStep.Root root) {
            states.put(root.pid(), new State(new ContentMap(), List.of()));
        } else if (step instanceof TreeStep.Fork fork) {
            State maker = states.get(fork.maker());
            stagings.put(fork.pid(), stage(fork, maker));
            states.put(fork.pid(), new State(maker.held.copy(), maker.mapped));
            for (Content wanted : wants(fork.pid()).all()) {
                maker.held.same(wanted).stream().flatMap(part -> common(fork.maker()).same(part).stream())
                        .forEach(maker.given::put);
            }
        }
    }

    private ForkPreparation stage(TreeStep.Fork fork, State maker) {
        List<Integer> children = forks.get(fork.maker());
        List<ContentMap> others = new ArrayList<>(List.of(common(fork.maker())));
        children.subList(children.indexOf(fork.pid()) + 1, children.size()).forEach(later -> others.add(wants(later)));
        List<Span> there = List.copyOf(maker.mapped);
        List<Span> spans = new ArrayList<>();
        List<Content> contents = new ArrayList<>();
        for (Content wanted : wants(fork.pid()).all()) {
            for (Content part : maker.held.missing(wanted)) {
                for (Content free : ContentMap.pieces(part, AddressRanges.without(part.range(),
                        ContentMap.ranges(maker.given.over(part.start(), part.end()))))) {
                    wantedByOthers(free, others).stream().filter(one -> mapped(one, fork, maker, spans))
                            .forEach(contents::add);
                }
            }
        }
        contents.forEach(maker.held::put);
        return contents.isEmpty() ? ForkPreparation.NOTHING : new ForkPreparation(there, spans, contents);
    }

    private static Collection<Content> wantedByOthers(Content content, List<ContentMap> others) {
        List<Content> found = new ArrayList<>();
        List<Content> left = List.of(content);
        for (ContentMap other : others) {
            left.forEach(part -> found.addAll(other.same(part)));
            left = left.stream().flatMap(part -> other.missing(part).stream()).toList();
        }
        return found;
    }

    /** False: there is a mapping of another kind where it lies. */
    private boolean mapped(Content content, TreeStep.Fork fork, State maker, List<Span> spans) {
        Span span = trees.get(roots.get(fork.maker())).span(content);
        if (maker.mapped.contains(span)) {
            return true;
        }
        if (maker.mapped.stream().anyMatch(span::overlaps)) {
            return false;
        }
        maker.mapped.add(span);
        spans.add(span);
        return true;
    }

    private Inherited result(int pid, List<Region> regions) {
        State state = states.get(pid);
        if (state == null || state.mapped.isEmpty()) {
            return Inherited.NOTHING;
        }
        List<Region> there = new ArrayList<>();
        List<Content> kept = new ArrayList<>();
        List<long[]> held = new ArrayList<>();
        for (Region region : regions) {
            MappingKind kind = MappingKind.of(region);
            List<Content> right = common(pid).over(region.start(), region.end()).stream()
                    .flatMap(one -> state.held.same(one.cut(region.start(), region.end())).stream()).toList();
            if (kind != null && !right.isEmpty() && state.mapped.stream()
                    .anyMatch(span -> span.kind().equals(kind) && span.holds(region.start(), region.end()))) {
                there.add(region);
                kept.addAll(right);
                held.add(AddressRanges.both(ContentMap.ranges(state.held.over(region.start(), region.end())),
                        new long[]{region.start(), region.end()}));
            }
        }
        kept.sort((a, b) -> Long.compare(a.start(), b.start()));
        held.sort((a, b) -> Long.compare(a.length == 0 ? 0 : a[0], b.length == 0 ? 0 : b[0]));
        long[] all = held.stream().flatMapToLong(java.util.Arrays::stream).toArray();
        long[] right = ContentMap.ranges(kept);
        return new Inherited(there, right, AddressRanges.without(all, right));
    }

    /** What the maker of a process gets before it forks this one: its number as in the steps. */
    public ForkPreparation before(int pid) {
        return stagings.getOrDefault(pid, ForkPreparation.NOTHING);
    }

    public Inherited of(int pid) {
        return inherited.getOrDefault(pid, Inherited.NOTHING);
    }
}
