package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.CLONE_FILES;
import static org.udckpt.linux.LinuxConstants.CLONE_FS;
import static org.udckpt.linux.LinuxConstants.CLONE_SIGHAND;
import static org.udckpt.linux.LinuxConstants.CLONE_VM;
import static org.udckpt.linux.LinuxConstants.PR_SET_CHILD_SUBREAPER;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.terminal.TerminalRestore;
import org.udckpt.process.kinds.unix.PeerMakers;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.UserNamespaceMember;
import org.udckpt.process.model.Zombie;
import org.udckpt.process.tree.CoreDump;
import org.udckpt.process.tree.SharedWithMaker;
import org.udckpt.process.tree.TreeMember;
import org.udckpt.process.tree.TreePlan;
import org.udckpt.process.tree.TreeRefused;
import org.udckpt.process.tree.TreeStep;

/**
 * Makes the job's processes, empty still: roots from the shepherd's stubs, all others by fork, so that parenthood,
 * sessions and process groups are what they were. The order is {@link TreePlan}'s.
 */
final class ProcessTree {
    private static final int FIRST_PID = 300, PID_ONE = 1;
    private static final Map<AttributeKind, Long> FLAGS = Map.of(AttributeKind.SHARED_DESCRIPTORS, (long) CLONE_FILES,
            AttributeKind.SHARED_DIRECTORIES, (long) CLONE_FS, AttributeKind.SHARED_MEMORY, (long) CLONE_VM,
            AttributeKind.SHARED_HANDLERS, (long) CLONE_SIGHAND);

    private final JobImage image;
    private final RestoreTarget target;
    private final Owners owners;
    private final TerminalRestore terminals;
    private final Handles handles;
    private final InheritedMemory inherited;
    /** Where the launcher's standard streams are in all processes. */
    private long[] streams;
    private int shepherd = PID_ONE;
    private Tracee first;
    private final List<Integer> stubs = new ArrayList<>();
    private final Map<Integer, ProcessState> states;
    private final PidNumbers pids;
    private final NamespaceBeginning beginning;
    private final JobNumbers numbers;
    private final Map<Integer, Long> shared;
    /** All that there are, by the plan's numbers: helpers and children that will have ended, too. */
    private final Map<Integer, Tracee> made = new HashMap<>();
    private final Set<Integer> taken = new HashSet<>();
    /** Parents, which reap them, of processes that exist for their sockets only. */
    private final Map<Integer, Tracee> makers = new HashMap<>();
    /** object id -> child that will have ended */
    private final Map<Long, Integer> ending = new HashMap<>();

    ProcessTree(JobImage image, RestoreTarget target, Owners owners, TerminalRestore terminals, Handles handles,
            InheritedMemory inherited) {
        this.inherited = inherited;
        this.image = image;
        this.target = target;
        this.owners = owners;
        this.terminals = terminals;
        this.handles = handles;
        this.shared = shared(image);
        this.pids = PidNumbers.of(image.objects());
        this.beginning = new NamespaceBeginning(image);
        this.numbers = new JobNumbers(target);
        this.states = image.processes().stream().collect(Collectors.toMap(ProcessState::pid, process -> process));
    }

    static List<TreeStep> plan(JobImage image, Owners owners) {
        PidNumbers pids = PidNumbers.of(image.objects());
        Stream<TreeMember> living = image.processes().stream().map(one -> new TreeMember(one.pid(), one.parentPid(),
                one.session(), one.processGroup(), isBornIn(pids, one.pid(), one.processGroup()),
                after(pids, one.pid(), one.parentPid())));
        Stream<TreeMember> ended = image.zombies().stream().map(one -> new TreeMember(one.pid(), one.parentPid(),
                one.session(), one.processGroup(), isBornIn(pids, one.pid(), one.processGroup()),
                after(pids, one.pid(), one.parentPid())));
        Map<Integer, Long> shared = shared(image);
        try {
            List<TreeMember> members = Stream.concat(living, ended).toList();
            List<TreeStep> steps = TreePlan.of(members);
            SharedWithMaker.check(steps, members, shared::containsKey);
            return steps;
        } catch (TreeRefused refused) {
            String who = image.processes().stream().anyMatch(one -> one.pid() == refused.pid())
                    ? owners.of(refused.pid()).name() : "process " + refused.pid();
            throw new RestoreException(RestoreException.Reason.UNSUPPORTED, who
                    + " cannot be restored at its place in the process tree: " + refused.getMessage());
        }
    }

    private static int after(PidNumbers pids, int pid, int parent) {
        return pids.isFromOutside(pid, parent) ? pids.of(pid).init() : 0;
    }

    private static boolean isBornIn(PidNumbers pids, int pid, int group) {
        return pids.of(pid) != null && pids.of(group) != pids.of(pid);
    }

    /**
     * Before anything is made.
     *
     * @throws RestoreException naming a process that cannot be made again as it was
     */
    static void check(JobImage image, Owners owners) {
        plan(image, owners);
        String refusal = image.zombies().stream().anyMatch(Zombie::dumped) ? CoreDump.refusal() : null;
        if (refusal != null) {
            Zombie zombie = image.zombies().stream().filter(Zombie::dumped).findFirst().orElseThrow();
            throw owners.of(zombie.parentPid())
                    .unsupported("its child " + zombie.pid() + " had ended with a core dump, and " + refusal);
        }
    }

    /** All processes by pid, in the image's order. */
    Map<Integer, Tracee> build() {
        List<TreeStep> steps = plan(image, owners);
        taken.add(PID_ONE); // the shepherd's, which may have made a socket, too
        image.threads().forEach(thread -> taken.add(thread.tid()));
        image.processes()
                .forEach(process -> taken.addAll(List.of(process.pid(), process.processGroup(), process.session())));
        image.zombies().forEach(zombie -> taken.addAll(List.of(zombie.pid(), zombie.processGroup(), zombie.session())));
        nameParent();
        int roots = (int) steps.stream().takeWhile(TreeStep.Root.class::isInstance).count();
        steps.subList(0, roots).forEach(this::go);
        if (target.changes() != null) {
            PrivateFiles.mount(image, target.changes(), first);
        }
        terminals.make(first);
        try (beginning) {
            steps.subList(roots, steps.size()).forEach(this::go);
        }
        image.processes().stream().filter(process -> process.session() == process.pid())
                .forEach(leader -> terminals.foreground(made.get(leader.pid())));
        Set<Integer> wanted = PeerMakers.ended(image);
        image.zombies().stream().filter(zombie -> !wanted.contains(zombie.pid())).forEach(this::bury);
        Map<Integer, Tracee> tracees = new LinkedHashMap<>();
        image.processes().forEach(process -> tracees.put(process.pid(), made.get(process.pid())));
        bringBack(wanted, tracees.values().iterator().next());
        addEnding(tracees.values().iterator().next());
        return tracees;
    }

    /** Processes that have ended, until {@link #endMakers}. */
    private void bringBack(Set<Integer> wanted, Tracee parent) {
        for (int pid : wanted) {
            if (!taken.add(pid)) {
                if (!made.containsKey(pid)) {
                    warnOfMaker(pid, "is in use now");
                }
                continue;
            }
            Tracee maker = parent.helperIfPossible(pid);
            if (maker == null) {
                warnOfMaker(pid, "is above kernel.pid_max here");
            } else {
                made.put(pid, maker);
                makers.put(pid, parent);
            }
        }
    }

    private void warnOfMaker(int pid, String why) {
        target.warn("process " + pid + ", which has left the job, created unix sockets of the job; its pid " + why
                + ", so SO_PEERCRED names another process as their creator");
    }

    /** By number, until {@link #endMakers}: also processes that have ended, and that sockets tell of. */
    Map<Integer, Tracee> makers() {
        return made;
    }

    /** When all unix sockets are made. */
    void endMakers() {
        makers.forEach(this::end);
        makers.clear();
        image.zombies().stream().filter(zombie -> made.containsKey(zombie.pid())).forEach(this::bury);
    }

    /** The children that do nothing, and that objects need, until {@link #endMakers}. */
    private void addEnding(Tracee parent) {
        for (KernelObject object : image.objects()) {
            long key = ObjectKinds.of(object).endingChild(object);
            if (key != 0 && !ending.containsKey(key)) {
                int pid = number(-1);
                made.put(pid, parent.helper(pid));
                makers.put(pid, parent);
                ending.put(key, pid);
            }
        }
    }

    /** The number of the child with this key, until {@link #endMakers}. */
    int endingChild(long key) {
        return ending.get(key);
    }

    /**
     * getppid(2) of the first processes and of orphans: the shepherd takes the number that their parent had, where
     * nothing of the job has it.
     */
    private void nameParent() {
        int parent = image.attributes().stream().filter(one -> one.kind() == AttributeKind.PARENT)
                .mapToInt(one -> (int) one.values()[0]).findFirst().orElse(PID_ONE);
        if (parent != PID_ONE && taken.add(parent)) {
            shepherd = target.parent(parent);
        }
        if (shepherd != parent) {
            target.warn("the parent of the job's first process had pid " + parent
                    + ", which it cannot have here: getppid(2) returns " + shepherd + " now");
        }
    }

    /** The number of the shepherd in its namespace. */
    int shepherd() {
        return shepherd;
    }

    /** What the tracer's end does not kill: stubs that were not seized yet. */
    List<Integer> stubs() {
        return stubs;
    }

    /** The same numbers in each. */
    long[] streams() {
        return streams;
    }

    private void go(TreeStep step) {
        switch (step) {
            case TreeStep.Root root -> made.put(root.pid(), first == null ? seize(root.pid()) : copy(root.pid()));
            case TreeStep.Fork fork -> {
                Tracee maker = made.get(fork.maker());
                inherited.stage(maker, fork.pid());
                made.put(fork.pid(), make(maker, fork.pid()));
            }
            case TreeStep.NewSession session -> {
                Tracee leader = made.get(session.pid());
                leader.call("setsid", Syscall.SETSID);
                if (states.containsKey(session.pid())) {
                    terminals.control(leader);
                }
            }
            case TreeStep.JoinGroup joins -> made.get(joins.pid()).call("join process group " + joins.group(),
                    Syscall.SETPGID, 0, made.get(joins.pid()).own(joins.group()));
            case TreeStep.Adopt adopts -> made.get(adopts.pid()).call("PR_SET_CHILD_SUBREAPER", Syscall.PRCTL,
                    PR_SET_CHILD_SUBREAPER, adopts.on() ? 1 : 0);
            case TreeStep.End end -> end(end.pid(), made.get(end.maker()));
        }
    }

    private Tracee make(Tracee maker, int pid) {
        PidNamespace its = pids.of(pid);
        if (its != null && pids.begunBy(pid) != null) {
            return begin(maker, its);
        }
        if (its != null && (maker.space() == null || maker.space().namespace() != its)) {
            Owner owner = states.containsKey(pid) ? owners.of(pid) : maker.ownerOf(pid);
            return beginning.join(maker, owner, shared(pid), made.get(its.init()), number(-1));
        }
        return states.containsKey(pid) ? maker.fork(owners.of(pid), shared(pid)) : maker.helper(number(pid));
    }

    /** The first process of a pid namespace. */
    private Tracee begin(Tracee maker, PidNamespace namespace) {
        PidSpace space = new PidSpace(namespace, pids, maker.space());
        int pid = namespace.init();
        Tracee first = beginning.make(maker, owners.of(pid), shared(pid), space, number(-1));
        if (image.objects().stream().anyMatch(one -> one instanceof UserNamespaceMember member
                && pids.chain(member.pid()).contains(namespace))) {
            int helper = number(-1);
            space.helper(first.helper(helper));
            made.put(helper, space.helper());
            makers.put(helper, first);
        }
        return first;
    }

    /** By pid, what a process shares with its parent: flags of clone(2). */
    private static Map<Integer, Long> shared(JobImage image) {
        Map<Integer, Long> shared = new HashMap<>();
        FLAGS.forEach((kind, flag) -> image.attributes().stream().filter(one -> one.kind() == kind)
                .forEach(one -> shared.merge(one.pid(), flag, (flags, other) -> flags | other)));
        return shared;
    }

    private long shared(int pid) {
        return shared.getOrDefault(pid, 0L);
    }

    private void end(int pid, Tracee parent) {
        try (Tracee helper = made.remove(pid)) {
            helper.end(0, Tracee.SAME_USER);
            parent.call("wait for a helper", Syscall.WAIT4, parent.own(helper.pid()), 0, 0, 0);
        }
    }

    /** The first one; all others are copies of it, with its scratch, numbers and streams. */
    private Tracee seize(int pid) {
        int hostPid = target.stub(pid);
        stubs.add(hostPid);
        StubLayout layout = StubLayout.of(hostPid);
        Tracee tracee = Tracee.seize(owners.of(pid), numbers, hostPid, layout.systemCallInstruction(hostPid),
                FreeRange.find(image, layout));
        streams = handles.prepare(tracee);
        first = tracee;
        return tracee;
    }

    private Tracee copy(int pid) {
        Tracee copy = first.sibling(owners.of(pid));
        stubs.add(copy.hostPid());
        target.adopt(pid, copy.hostPid());
        return copy;
    }

    /** The pid of a process of the plan; a helper gets one that no object of the job has. */
    private int number(int planned) {
        int pid = planned;
        for (int next = FIRST_PID; pid < 0; next++) {
            pid = taken.add(next) ? next : pid;
        }
        return pid;
    }

    private void bury(Zombie zombie) {
        try (Tracee dead = made.remove(zombie.pid())) {
            dead.rename(zombie.name());
            int user = image.attributes().stream()
                    .filter(one -> one.kind() == AttributeKind.ENDED_CHILD && one.values()[0] == zombie.pid())
                    .mapToInt(one -> (int) one.values()[1]).findFirst().orElse(Tracee.SAME_USER);
            dead.end(zombie.waitStatus(), user);
        }
    }
}
