package org.udckpt.process.tree;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Process groups, when all processes are born: each is still in the group that its session's leader leads. A group is
 * led by the process of its number, which may go on to another one when the rest has joined (setpgid(2)); where that
 * has gone, by a helper.
 */
final class TreeGroups {
    private final Collection<TreeMember> members;
    private final Map<Integer, TreeMember> byPid = new HashMap<>();
    private final Set<Integer> outside;

    /** @param outside sessions of whoever started the job */
    TreeGroups(Collection<TreeMember> members, Set<Integer> outside) {
        this.members = members;
        this.outside = outside;
        members.forEach(member -> byPid.put(member.pid(), member));
    }

    void join(TreePlan plan) {
        Set<Integer> groups = new LinkedHashSet<>();
        for (TreeMember member : members) {
            if (member.group() != member.session() && !others(member)) {
                groups.add(member.group());
            }
        }
        groups.stream().filter(byPid::containsKey).forEach(group -> plan.join(group, group));
        Set<Integer> led = new HashSet<>();
        for (TreeMember member : members) {
            if (member.group() > TreePlan.SHEPHERD && groups.contains(member.group())
                    && !byPid.containsKey(member.group()) && led.add(member.group())) {
                plan.helper(member.pid(), member.group());
                plan.join(member.group(), member.group());
            }
        }
        for (boolean former : new boolean[]{false, true}) { // who led a group that others are in leaves it last
            for (TreeMember member : members) {
                boolean moves = groups.contains(member.pid()) ? member.group() != member.pid()
                        : groups.contains(member.group());
                if (moves && groups.contains(member.pid()) == former && !others(member) && !member.born()) {
                    plan.join(member.pid(), member.group());
                }
            }
        }
    }

    /** The launcher's: the new launcher's takes its place. */
    private boolean others(TreeMember member) {
        return outside.contains(member.session()) && !byPid.containsKey(member.group());
    }
}
