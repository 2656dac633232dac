package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.tree.SharedWithMaker;
import org.udckpt.process.tree.TreeMember;
import org.udckpt.process.tree.TreePlan;
import org.udckpt.process.tree.TreeRefused;

/**
 * Refuses processes that a restart would not make again among the others where they are: it asks for the restart's own
 * order.
 */
final class TreeCheck {
    private TreeCheck() {}

    /** What {@link ProcessState#parentPid} says of it. */
    static int parent(TracedProcess process) {
        return process.orphan ? ProcessState.ADOPTED : process.parent == null ? 0 : process.parent.namespacePid;
    }

    /** {@link TreeMember#after}. */
    private static int after(TracedProcess process) {
        int above = process.parent == null ? 0 : process.parent.pidNamespaces();
        return process.pidNamespaces() == above || process.ownPid() == 1 ? 0 : process.ofNamespace(1);
    }

    /** When all ranks have been read. */
    static void refuse(List<RankCapture> ranks) {
        List<TreeMember> members = new ArrayList<>();
        for (RankCapture rank : ranks) {
            rank.processes().forEach(process -> members.add(new TreeMember(process.namespacePid, parent(process),
                    process.namespaceSession, process.namespaceGroup,
                    process.inner != null && process.inner.groupFromOutside(), after(process))));
        }
        for (RankCapture rank : ranks) {
            members.addAll(rank.zombies().members());
        }
        try {
            SharedWithMaker.check(TreePlan.of(members), members, pid -> ranks.stream()
                    .flatMap(rank -> rank.processes().stream()).anyMatch(one -> one.namespacePid == pid
                            && (one.sharesDescriptors || one.sharesDirectories)));
        } catch (TreeRefused refused) {
            throw refusal(ranks, refused);
        }
    }

    private static CaptureRefused refusal(List<RankCapture> ranks, TreeRefused refused) {
        TracedProcess named = ranks.getFirst().processes().getFirst();
        String who = "process " + refused.pid();
        for (RankCapture rank : ranks) {
            for (TracedProcess process : rank.processes()) {
                boolean parent = rank.zombies().rows().stream().anyMatch(
                        zombie -> zombie.pid() == refused.pid() && zombie.parentPid() == process.namespacePid);
                if (process.namespacePid == refused.pid() || parent) {
                    named = process;
                    who = parent ? "its child " + refused.pid() + ", which has ended," : "it";
                }
            }
        }
        return named.refuse(who + " cannot be restored at its place in the process tree: " + refused.getMessage()
                + "; end it first");
    }
}
