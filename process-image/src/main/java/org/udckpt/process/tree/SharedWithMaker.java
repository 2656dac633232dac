package org.udckpt.process.tree;

import java.util.List;
import java.util.function.IntPredicate;

/** What a process shares with its parent it has only from there: another one that forks it cannot pass it on. */
public final class SharedWithMaker {
    private SharedWithMaker() {}

    /**
     * @param members those of the plan
     * @param shares by pid
     * @throws TreeRefused naming a process that another one than its parent would make
     */
    public static void check(List<TreeStep> plan, List<TreeMember> members, IntPredicate shares) throws TreeRefused {
        for (TreeStep step : plan) {
            if (step instanceof TreeStep.Fork fork && shares.test(fork.pid()) && members.stream()
                    .noneMatch(one -> one.pid() == fork.pid() && one.parent() == fork.maker())) {
                throw new TreeRefused(fork.pid(), "it shares memory, descriptors or its working directory with "
                        + "its parent (clone(2)), which cannot make it in its session");
            }
        }
    }
}
