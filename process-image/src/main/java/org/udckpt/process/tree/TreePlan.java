package org.udckpt.process.tree;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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

/**
 * Finds the order. A session is joined by being born in it only (setsid(2)): so each process is forked while its parent
 * is in the session that the process, or one below it that was born before its setsid, has to inherit. One that its
 * present parent cannot have made has lost the parent that it had: it is forked by a helper in the right session, and
 * comes to its parent, or to the shepherd, as that ends. A session or group whose leader has gone gets a helper of its
 * number for a leader. Groups come when all are born; helpers end when all have joined.
 */
public final class TreePlan {
    /** The session in which the shepherd makes the first processes. */
    static final int OUTSIDE = Integer.MIN_VALUE;
    /** Its pid in a restored job; and no process has a lower one. */
    static final int SHEPHERD = 1;

    /** One whose parent cannot fork it in {@code session}; {@link #OUTSIDE}: any will do. */
    private record Stray(TreeMember member, int session) {}

    /** One whose pid namespace is not there yet when its parent could fork it in {@code session}. */
    private record Late(int maker, TreeMember member, int session) {}

    private final Map<Integer, TreeMember> members = new LinkedHashMap<>();
    private final Map<Integer, List<TreeMember>> children = new HashMap<>();
    private final Map<Integer, Set<Integer>> births = new HashMap<>();
    private final Map<Integer, Integer> makers = new HashMap<>();
    /** The groups in which processes are while they are made. */
    private final Map<Integer, Integer> groups = new HashMap<>();
    private final Set<Integer> sessions = new HashSet<>();
    private final List<Stray> strays = new ArrayList<>();
    private final List<Late> late = new ArrayList<>();
    private final List<Fork> leaders = new ArrayList<>();
    private final List<TreeStep> steps = new ArrayList<>();
    private int helpers = ProcessState.ADOPTED;
    private int first;

    private TreePlan(List<TreeMember> all) throws TreeRefused {
        for (TreeMember member : all) {
            if (members.put(member.pid(), member) != null) {
                throw new TreeRefused(member.pid(), "two processes have its pid");
            }
            children.computeIfAbsent(member.parent(), _ -> new ArrayList<>()).add(member);
        }
    }

    /**
     * @param all parents before their children; children that have ended last, in the order in which their parents
     *     would wait for them
     * @throws TreeRefused naming the process that would not become what it was
     */
    public static List<TreeStep> of(List<TreeMember> all) throws TreeRefused {
        TreePlan plan = new TreePlan(all);
        plan.make();
        TreePlanCheck.check(plan.steps, plan.members.values(), plan.outside());
        return plan.steps;
    }

    /** Sessions that belong to whoever started the job: the shepherd's takes their place. */
    private Set<Integer> outside() {
        Set<Integer> outside = new HashSet<>();
        for (TreeMember root : children.getOrDefault(0, List.of())) {
            if (!members.containsKey(root.session())) {
                outside.add(root.session());
            }
        }
        return outside;
    }

    private void make() throws TreeRefused {
        List<TreeMember> roots = children.getOrDefault(0, List.of());
        for (TreeMember root : roots) { // before one of them is more than a stub
            first = first == 0 ? root.pid() : first;
            steps.add(new Root(root.pid()));
            groups.put(root.pid(), OUTSIDE);
        }
        for (TreeMember root : roots) {
            grow(root, root.leadsSession() ? OUTSIDE : root.session());
        }
        for (TreeMember orphan : children.getOrDefault(ProcessState.ADOPTED, List.of())) {
            strays.add(new Stray(orphan, births(orphan).stream().findFirst().orElse(OUTSIDE)));
        }
        makeLate();
        makeStrays();
        makeLate();
        if (!late.isEmpty()) {
            TreeMember stuck = late.getFirst().member;
            throw new TreeRefused(stuck.pid(), "it was made in a pid namespace (setns(2)) whose first process "
                    + stuck.after() + " can only be made after it");
        }
        for (TreeMember member : members.values()) {
            if (member.parent() != 0 && !makers.containsKey(member.pid())) {
                throw new TreeRefused(member.pid(), "its parent " + member.parent() + " is not in the job");
            }
        }
        new TreeGroups(members.values(), outside()).join(this);
        for (Fork leader : leaders.reversed()) {
            steps.add(new End(leader.pid(), leader.maker()));
        }
    }

    /** The sessions in one of which it has to be born; none: anywhere. */
    private Set<Integer> births(TreeMember member) {
        if (!member.leadsSession()) {
            return Set.of(member.session());
        }
        Set<Integer> known = births.get(member.pid());
        if (known == null) {
            Set<Integer> wanted = new LinkedHashSet<>();
            for (TreeMember child : children.getOrDefault(member.pid(), List.of())) {
                wanted.addAll(births(child));
            }
            // it got that child from one below it
            wanted.removeIf(session -> members.containsKey(session) && below(session, member.pid()));
            births.put(member.pid(), known = wanted);
        }
        return known;
    }

    /** Whether {@code pid} is {@code above}, or was made by one that is below it. */
    private boolean below(int pid, int above) {
        Integer at = pid;
        for (int i = 0; at != null && i <= members.size() + leaders.size(); i++) {
            if (at == above) {
                return true;
            }
            TreeMember member = members.get(at);
            at = member != null ? Integer.valueOf(member.parent()) : makers.get(at);
        }
        return false;
    }

    private void grow(TreeMember member, int born) {
        List<TreeMember> list = children.getOrDefault(member.pid(), List.of());
        boolean leads = member.leadsSession();
        int oldest = -1; // the last that was there before its parent's setsid
        for (int i = 0; leads && i < list.size(); i++) {
            oldest = births(list.get(i)).contains(born) ? i : oldest;
        }
        for (int i = 0; i <= oldest; i++) {
            Set<Integer> wanted = births(list.get(i));
            if (wanted.isEmpty() || wanted.contains(born)) {
                fork(member.pid(), list.get(i), born);
            }
        }
        if (leads) {
            steps.add(new NewSession(member.pid()));
            groups.put(member.pid(), member.pid());
            sessions.add(member.pid());
        }
        for (TreeMember child : list) {
            Set<Integer> wanted = births(child);
            if (makers.containsKey(child.pid())) {
                continue;
            }
            if (wanted.isEmpty() || wanted.contains(member.session())) {
                fork(member.pid(), child, member.session());
            } else {
                strays.add(new Stray(child, wanted.iterator().next()));
            }
        }
    }

    private void fork(int maker, TreeMember child, int session) {
        makers.put(child.pid(), maker);
        if (child.after() != 0 && !groups.containsKey(child.after())) {
            late.add(new Late(maker, child, session));
            return;
        }
        if (child.born()) {
            goInto(maker, child.group());
        }
        groups.put(child.pid(), groups.get(maker));
        steps.add(new Fork(maker, child.pid(), false));
        grow(child, session);
    }

    private void makeLate() {
        for (int i = 0; i < late.size();) {
            Late next = late.get(i);
            if (groups.containsKey(next.member.after())) {
                late.remove(i);
                fork(next.maker, next.member, next.session);
                i = 0;
            } else {
                i++;
            }
        }
    }

    /** Who makes a process that has to be born in a group is in that first, if somebody leads it by now. */
    private void goInto(int maker, int group) {
        if (groups.get(maker) != group && groups.containsKey(group)) {
            if (groups.get(group) != group) {
                enter(group, group);
            }
            if (maker != group) {
                enter(maker, group);
            }
        }
    }

    private void enter(int pid, int group) {
        join(pid, group);
        groups.put(pid, group);
    }

    /** Makes strays one after the other: each that is made may be the maker that another one needs. */
    private void makeStrays() throws TreeRefused {
        while (!strays.isEmpty()) {
            Stray next = strays.stream().filter(stray -> maker(stray) != 0).findFirst().orElse(null);
            if (next == null) {
                lead(strays.getFirst());
            } else {
                strays.remove(next);
                adopt(next, maker(next));
            }
        }
    }

    /** A process that can fork this one in its session and below its parent; 0: none yet. */
    private int maker(Stray stray) {
        int parent = stray.member.parent();
        boolean orphan = parent == ProcessState.ADOPTED;
        int maker = stray.session != OUTSIDE ? stray.session : orphan ? first : parent;
        boolean made = maker != 0 && (stray.session == OUTSIDE || sessions.contains(maker));
        return made && (orphan || below(maker, parent)) ? maker : 0;
    }

    private void adopt(Stray stray, int maker) {
        int parent = stray.member.parent();
        int between = --helpers;
        steps.add(new Fork(maker, between, true));
        groups.put(between, groups.get(maker));
        fork(between, stray.member, stray.session == OUTSIDE ? members.get(first).session() : stray.session);
        if (parent != ProcessState.ADOPTED) {
            steps.add(new Adopt(parent, true));
        }
        steps.add(new End(between, maker));
        if (parent != ProcessState.ADOPTED) {
            steps.add(new Adopt(parent, false));
        }
    }

    /**
     * Nobody is in its session who could make others in it: its leader has gone, or has not been made yet, and then
     * another one has to come first.
     */
    private void lead(Stray stuck) throws TreeRefused {
        for (Stray stray : strays) {
            int session = stray.session;
            if (session <= SHEPHERD || members.containsKey(session) || sessions.contains(session)
                    || outside().contains(session)) {
                continue;
            }
            int maker =
                    strays.stream().filter(one -> one.session == session && one.member.parent() != ProcessState.ADOPTED)
                            .map(one -> one.member.parent()).findFirst().orElse(first);
            if (maker != 0) {
                helper(maker, session);
                steps.add(new NewSession(session));
                groups.put(session, session);
                sessions.add(session);
                return;
            }
        }
        throw new TreeRefused(stuck.member.pid(), "session %d cannot be created again in a child of process %d"
                .formatted(stuck.session, stuck.member.parent()));
    }

    /** Makes a helper process, which lasts until all processes have joined their groups. */
    void helper(int maker, int pid) {
        Fork fork = new Fork(maker, pid, true);
        groups.put(pid, groups.get(maker));
        makers.put(pid, maker);
        leaders.add(fork);
        steps.add(fork);
    }

    void join(int pid, int group) {
        steps.add(new JoinGroup(pid, group));
    }
}
