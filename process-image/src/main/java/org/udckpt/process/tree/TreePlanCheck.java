package org.udckpt.process.tree;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.tree.TreeStep.Adopt;
import org.udckpt.process.tree.TreeStep.End;
import org.udckpt.process.tree.TreeStep.Fork;
import org.udckpt.process.tree.TreeStep.JoinGroup;
import org.udckpt.process.tree.TreeStep.NewSession;
import org.udckpt.process.tree.TreeStep.Root;

/** Goes through an order by the kernel's rules, and looks whether all became what they were: a plan is a promise. */
final class TreePlanCheck {
    private static final class Place {
        int parent;
        int session;
        int group;
        boolean adopts;

        Place(int parent, int session, int group) {
            this.parent = parent;
            this.session = session;
            this.group = group;
        }
    }

    private final Map<Integer, Place> places = new HashMap<>();
    /** How many are in a group. */
    private final Map<Integer, Integer> sizes = new HashMap<>();
    private final Map<Integer, Integer> sessionOf = new HashMap<>();

    private TreePlanCheck() {}

    /** @param outside sessions of whoever started the job */
    static void check(List<TreeStep> steps, Collection<TreeMember> members, Set<Integer> outside) throws TreeRefused {
        TreePlanCheck check = new TreePlanCheck();
        for (TreeStep step : steps) {
            check.go(step);
        }
        for (TreeMember member : members) {
            check.check(member, outside);
        }
    }

    private void check(TreeMember member, Set<Integer> outside) throws TreeRefused {
        Place place = places.get(member.pid());
        boolean others = outside.contains(member.session());
        boolean session = place.session == (others ? TreePlan.OUTSIDE : member.session());
        boolean group = place.group == member.group()
                || others && place.group == TreePlan.OUTSIDE && !places.containsKey(member.group());
        if (place.parent != member.parent() || !session || !group) {
            throw new TreeRefused(member.pid(), "it is in session %d and process group %d below process %d"
                    .formatted(member.session(), member.group(), member.parent()));
        }
    }

    private void go(TreeStep step) throws TreeRefused {
        switch (step) {
            case Root root -> add(root.pid(), new Place(0, TreePlan.OUTSIDE, TreePlan.OUTSIDE));
            case Fork fork -> {
                Place maker = place(fork.maker());
                add(fork.pid(), new Place(fork.maker(), maker.session, maker.group));
            }
            case NewSession made -> {
                Place place = place(made.pid());
                if (sizes.getOrDefault(made.pid(), 0) > 0) {
                    throw new TreeRefused(made.pid(),
                            "it leads a session, but a process group with its pid exists already");
                }
                place.session = made.pid();
                enter(place, made.pid());
            }
            case JoinGroup joins -> join(place(joins.pid()), joins.pid(), joins.group());
            case Adopt adopts -> place(adopts.pid()).adopts = adopts.on();
            case End end -> end(end.pid());
        }
    }

    private void join(Place place, int pid, int group) throws TreeRefused {
        boolean there = sizes.getOrDefault(group, 0) > 0;
        if (place.session == pid || (there ? sessionOf.get(group) != place.session : group != pid)) {
            throw new TreeRefused(pid,
                    "it cannot join process group %d from session %d".formatted(group, place.session));
        }
        enter(place, group);
    }

    private void enter(Place place, int group) {
        sizes.merge(place.group, -1, Integer::sum);
        place.group = group;
        sizes.merge(group, 1, Integer::sum);
        sessionOf.put(group, place.session);
    }

    private void add(int pid, Place place) throws TreeRefused {
        if (places.put(pid, place) != null) {
            throw new TreeRefused(pid, "another process has its pid");
        }
        sizes.merge(place.group, 1, Integer::sum);
        sessionOf.put(place.group, place.session);
    }

    private void end(int pid) throws TreeRefused {
        Place ended = place(pid);
        int heir = ended.parent;
        for (int i = 0; heir > 0 && !places.get(heir).adopts && i <= places.size(); i++) {
            heir = places.get(heir).parent;
        }
        int parent = heir > 0 ? heir : ProcessState.ADOPTED;
        places.remove(pid);
        sizes.merge(ended.group, -1, Integer::sum);
        places.values().stream().filter(one -> one.parent == pid).forEach(child -> child.parent = parent);
    }

    private Place place(int pid) throws TreeRefused {
        Place place = places.get(pid);
        if (place == null) {
            throw new TreeRefused(pid, "the order of creation needs it while it does not exist");
        }
        return place;
    }
}
