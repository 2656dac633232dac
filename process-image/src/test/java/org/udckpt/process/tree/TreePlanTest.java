package org.udckpt.process.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.model.ProcessState;

/**
 * Orders for trees: whatever processes can have made by fork, setsid, setpgid and exit has one, or is refused by name.
 */
@Timeout(60)
class TreePlanTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int ROOT = 100, HISTORIES = 20_000, CALLS = 40;

    /** As the kernel keeps it. */
    private static final class Task {
        final int pid;
        int parent;
        int session;
        int group;
        boolean adopts;
        boolean ended;

        Task(int pid, int parent, int session, int group) {
            this.pid = pid;
            this.parent = parent;
            this.session = session;
            this.group = group;
        }
    }

    /** A job that makes calls at random. */
    private static final class History {
        final List<Task> tasks = new ArrayList<>(List.of(new Task(ROOT, 0, ROOT, ROOT)));
        final Random random;
        final boolean former;
        int next = ROOT + 1;

        /** @param former whether a leader may leave its group */
        History(long seed, boolean former) {
            random = new Random(seed);
            this.former = former;
        }

        void live() {
            for (int i = 0; i < CALLS; i++) {
                List<Task> living = tasks.stream().filter(task -> !task.ended).toList();
                Task task = living.get(random.nextInt(living.size()));
                switch (random.nextInt(10)) {
                    case 0, 1, 2, 3 -> tasks.add(new Task(next++, task.pid, task.session, task.group));
                    case 4, 5 -> newSession(task);
                    case 6 -> joinGroup(task, living);
                    case 7 -> task.adopts = !task.adopts && random.nextInt(4) == 0;
                    case 8 -> end(task);
                    default -> reap();
                }
            }
        }

        void newSession(Task task) {
            if (tasks.stream().noneMatch(other -> other.group == task.pid)) {
                task.session = task.group = task.pid;
            }
        }

        void joinGroup(Task task, List<Task> living) {
            int group = random.nextBoolean() ? task.pid : living.get(random.nextInt(living.size())).group;
            boolean there = tasks.stream().anyMatch(other -> other.group == group && other.session == task.session);
            boolean leads = task.group == task.pid && task.group != group;
            if (task.session != task.pid && (there || group == task.pid) && (former || !leads)) {
                task.group = group;
            }
        }

        void end(Task task) {
            if (task.pid == ROOT) {
                return;
            }
            int heir = tasks.stream().filter(one -> one.pid == task.parent).findFirst().map(one -> one.pid).orElse(0);
            while (heir > 0) {
                int at = heir;
                Task one = tasks.stream().filter(other -> other.pid == at).findFirst().orElseThrow();
                if (one.adopts && !one.ended) {
                    break;
                }
                heir = one.parent;
            }
            int parent = heir > 0 ? heir : ProcessState.ADOPTED;
            tasks.stream().filter(other -> other.parent == task.pid).toList().forEach(child -> {
                child.parent = parent;
                if (child.ended && parent == ProcessState.ADOPTED) {
                    tasks.remove(child);
                }
            });
            task.ended = true;
            if (task.parent == ProcessState.ADOPTED) {
                tasks.remove(task);
            }
        }

        void reap() {
            tasks.stream().filter(task -> task.ended).findFirst().ifPresent(tasks::remove);
        }

        List<TreeMember> members() {
            List<TreeMember> members = new ArrayList<>();
            add(0, members);
            add(ProcessState.ADOPTED, members);
            tasks.stream().filter(task -> task.ended).forEach(task -> members.add(member(task)));
            return members;
        }

        private void add(int parent, List<TreeMember> to) {
            tasks.stream().filter(task -> !task.ended && task.parent == parent).forEach(task -> {
                to.add(member(task));
                add(task.pid, to);
            });
        }

        private static TreeMember member(Task task) {
            return new TreeMember(task.pid, task.parent, task.session, task.group);
        }
    }

    @Test
    void whatCanHaveHappenedHasAnOrder() {
        int refused = 0;
        for (int i = 0; i < HISTORIES; i++) {
            History history = new History(SEED + i, false);
            history.live();
            try {
                TreePlan.of(history.members());
            } catch (TreeRefused none) {
                refused++;
                if (refused <= 5) {
                    System.out.println("seed " + (SEED + i) + ": " + none.pid() + ": " + none.getMessage() + " "
                            + history.members());
                }
            }
        }
        assertTrue(refused <= HISTORIES / 1000, refused + " of " + HISTORIES + " refused; -Dudckpt.seed=" + SEED);
    }

    /** Two leaders that went over to each other's groups while a third process held one of them. */
    @Test
    void withLeadersThatHaveLeftTheirGroups() {
        int refused = 0;
        for (int i = 0; i < HISTORIES; i++) {
            History history = new History(SEED + i, true);
            history.live();
            try {
                TreePlan.of(history.members());
            } catch (TreeRefused none) {
                refused++;
                if (refused <= 5) {
                    System.out.println("seed " + (SEED + i) + ": " + none.pid() + ": " + none.getMessage() + " "
                            + history.members());
                }
            }
        }
        assertTrue(refused <= HISTORIES / 100, refused + " of " + HISTORIES + " refused; -Dudckpt.seed=" + SEED);
    }

    @Test
    void leadersThatChangedTheirGroupsAreRefused() {
        TreeRefused refused = assertThrows(TreeRefused.class,
                () -> TreePlan.of(List.of(new TreeMember(ROOT, 0, ROOT, ROOT), new TreeMember(101, ROOT, ROOT, 102),
                        new TreeMember(102, ROOT, ROOT, 101))));
        assertEquals(102, refused.pid());
    }

    @Test
    void aParentThatIsNotThereIsNamed() {
        assertTrue(assertThrows(TreeRefused.class,
                () -> TreePlan.of(List.of(new TreeMember(ROOT, 0, ROOT, ROOT), new TreeMember(101, 99, ROOT, ROOT))))
                .getMessage()
                .contains("its parent 99 is not in the job"));
    }

    /** In a pid namespace of its own it could not name the group that its parent was in. */
    @Test
    void whoCannotJoinItsGroupIsBornInIt() throws TreeRefused {
        List<TreeStep> steps = TreePlan.of(List.of(new TreeMember(ROOT, 0, ROOT, ROOT),
                new TreeMember(101, ROOT, ROOT, 101), new TreeMember(102, ROOT, ROOT, 101),
                new TreeMember(103, 102, ROOT, 101, true, 0), new TreeMember(104, 103, ROOT, 101, true, 0)));
        int born = steps.indexOf(new TreeStep.Fork(102, 103, false));
        assertTrue(steps.subList(0, born).contains(new TreeStep.JoinGroup(102, 101)), steps.toString());
        assertTrue(steps.stream().noneMatch(step -> step instanceof TreeStep.JoinGroup joins && joins.pid() > 102),
                steps.toString());
    }

    /** A pid namespace is entered when its first process has made it. */
    @Test
    void whoWasMadeInAPidNamespaceComesAfterItsFirstProcess() throws TreeRefused {
        TreeMember root = new TreeMember(ROOT, 0, ROOT, ROOT);
        TreeMember first = new TreeMember(101, ROOT, ROOT, ROOT);
        TreeMember other = new TreeMember(102, ROOT, ROOT, ROOT, true, 101);
        assertEquals(
                List.of(new TreeStep.Root(ROOT), new TreeStep.NewSession(ROOT), new TreeStep.Fork(ROOT, 101, false),
                        new TreeStep.Fork(ROOT, 102, false)),
                TreePlan.of(List.of(root, first, other)));
        assertEquals(TreePlan.of(List.of(root, first, other)), TreePlan.of(List.of(root, other, first)));
        TreeMember below = new TreeMember(101, 102, ROOT, ROOT);
        TreeRefused refused =
                assertThrows(TreeRefused.class, () -> TreePlan.of(List.of(root, other, below)));
        assertEquals(102, refused.pid());
        assertTrue(refused.getMessage().contains("whose first process 101 can only be made after it"),
                refused.getMessage());
    }

    /** Forked by the helper of its session before its parent, and the first process, had sessions of their own. */
    @Test
    void aChildThatStayedIsForkedFirst() throws TreeRefused {
        List<TreeStep> steps = TreePlan.of(List.of(new TreeMember(ROOT, 0, ROOT, ROOT),
                new TreeMember(101, ROOT, 101, 101), new TreeMember(102, 101, 102, 102),
                new TreeMember(103, 102, ROOT, ROOT)));
        assertEquals(
                List.of(new TreeStep.Root(ROOT), new TreeStep.NewSession(ROOT), new TreeStep.Fork(ROOT, 101, false),
                        new TreeStep.Fork(101, 102, false),
                        new TreeStep.Fork(102, 103, false), new TreeStep.NewSession(102), new TreeStep.NewSession(101)),
                steps);
    }
}
