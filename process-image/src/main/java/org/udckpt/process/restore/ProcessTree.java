package org.udckpt.process.restore;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Zombie;

/**
 * Makes the job's processes, empty still: roots from the shepherd's stubs, children by fork from their parents, so that
 * parenthood, sessions (setsid(2): inherited or own) and process groups are what they were.
 */
final class ProcessTree {
    private final JobImage image;
    private final RestoreTarget target;
    private final Owners owners;
    private final TerminalObjects terminals;
    private final Handles handles;
    /** Where the launcher's standard streams are in all processes. */
    private long[] streams;
    private final List<Integer> stubs = new ArrayList<>();
    private final Map<Integer, Puppet> puppets = new LinkedHashMap<>();
    private final Map<Integer, List<ProcessState>> children = new HashMap<>();
    private final Set<Integer> pids;
    /** group -> a process that leads it in the place of one that has ended; those that are not in the image -> the parent that waits for them */
    private final Map<Integer, Puppet> leaders = new HashMap<>();
    /** whose leader has ended -> who took its place, and has ended too, but for one that is a zombie */
    private final Map<Integer, Puppet> sessions = new HashMap<>();
    private final Map<Puppet, Puppet> borrowed = new LinkedHashMap<>();

    ProcessTree(JobImage image, RestoreTarget target, Owners owners, TerminalObjects terminals, Handles handles) {
        this.image = image;
        this.target = target;
        this.owners = owners;
        this.terminals = terminals;
        this.handles = handles;
        this.pids = image.processes().stream().map(ProcessState::pid).collect(Collectors.toSet());
        for (ProcessState process : image.processes()) {
            children.computeIfAbsent(process.parentPid(), parent -> new ArrayList<>()).add(process);
        }
    }

    /** All processes by pid, parents first. */
    Map<Integer, Puppet> build() {
        long hole = 0;
        for (ProcessState root : children.getOrDefault(0, List.of())) {
            int hostPid = target.stub(root.pid());
            stubs.add(hostPid);
            StubLayout layout = StubLayout.of(hostPid);
            boolean first = hole == 0;
            hole = first ? Hole.find(image, layout) : hole;
            Puppet puppet = Puppet.seize(owners.of(root.pid()), hostPid, layout.systemCallInstruction(hostPid), hole);
            streams = handles.prepare(puppet);
            if (first) {
                if (target.changes() != null) {
                    PrivateFiles.mount(image, target.changes(), puppet);
                }
                terminals.make(puppet);
            }
            grow(root, puppet);
        }
        new Orphans(image, owners, puppets, this::grow).build(children.getOrDefault(ProcessState.ADOPTED, List.of()), sessions);
        joinGroups();
        image.processes().stream().filter(process -> process.session() == process.pid()).forEach(leader -> terminals.foreground(puppets.get(leader.pid())));
        image.zombies().forEach(this::bury);
        endLeaders();
        return puppets;
    }

    /** What the tracer's end does not kill: stubs that were not seized yet. */
    List<Integer> stubs() {
        return stubs;
    }

    /** The same numbers in each. */
    long[] streams() {
        return streams;
    }

    private void grow(ProcessState process, Puppet puppet) {
        puppets.put(process.pid(), puppet);
        List<ProcessState> born = children.getOrDefault(process.pid(), List.of());
        boolean leader = process.session() == process.pid();
        for (ProcessState child : born) {
            if (leader && older(child, process)) {
                grow(child, puppet.fork(owners.of(child.pid())));
            }
        }
        if (leader) {
            puppet.call("setsid", Syscall.SETSID);
            terminals.control(puppet);
        }
        for (ProcessState child : born) {
            if (!(leader && older(child, process))) {
                if (child.session() != child.pid() && child.session() != process.session()) {
                    throw puppet.unsupported("its child " + child.pid() + " belongs to session " + child.session() + ", whose leader has ended");
                }
                grow(child, puppet.fork(owners.of(child.pid())));
            }
        }
    }

    /** Forked before its parent made a session of its own: it stayed in the older one. */
    private static boolean older(ProcessState child, ProcessState parent) {
        return child.session() != parent.session() && child.session() != child.pid();
    }

    private void joinGroups() {
        for (ProcessState process : image.processes()) {
            if (process.processGroup() == process.pid() && process.session() != process.pid()) {
                puppets.get(process.pid()).call("lead a process group", Syscall.SETPGID, 0, 0);
            }
        }
        for (ProcessState process : image.processes()) {
            int group = process.processGroup();
            boolean outside = !pids.contains(group) && !pids.contains(process.session())
                    && (group == process.session() || !sessions.containsKey(process.session()));
            if (group == process.pid() || outside) {
                continue; // a group of the launcher's: the new launcher's takes its place
            }
            Puppet puppet = puppets.get(process.pid());
            if (!pids.contains(group) && !leaders.containsKey(group)) {
                lead(group, puppet);
            }
            puppet.call("join process group " + group, Syscall.SETPGID, 0, group);
        }
    }

    /** A group outlives its leader (setpgid(2)): a process with that id leads it for a while. */
    private void lead(int group, Puppet member) {
        Zombie zombie = image.zombies().stream().filter(one -> one.pid() == group).findFirst().orElse(null);
        Puppet parent = zombie == null ? member : parent(zombie);
        Puppet leader = parent.helper(group);
        leader.call("lead a process group", Syscall.SETPGID, 0, 0);
        leaders.put(group, leader);
        if (zombie == null) {
            borrowed.put(leader, member);
        }
    }

    /** When all have joined. */
    private void endLeaders() {
        borrowed.forEach((leader, parent) -> {
            leader.end(0);
            parent.call("wait for the group's leader", Syscall.WAIT4, leader.pid(), 0, 0, 0);
            leader.close();
        });
    }

    private Puppet parent(Zombie zombie) {
        Puppet parent = puppets.get(zombie.parentPid());
        if (parent == null) {
            throw new RestoreException(RestoreException.Reason.FAILED, "zombie " + zombie.pid() + ": its parent " + zombie.parentPid() + " is not in the image");
        }
        return parent;
    }

    private void bury(Zombie zombie) {
        Puppet parent = parent(zombie);
        boolean leader = sessions.containsKey(zombie.pid());
        try (Puppet dead = leader ? sessions.get(zombie.pid()) : leaders.containsKey(zombie.pid()) ? leaders.get(zombie.pid()) : parent.helper(zombie.pid())) {
            int group = zombie.processGroup();
            if (!leader && (group == zombie.pid() || pids.contains(group) || leaders.containsKey(group))) { // waitpid(2) finds it by its group
                dead.call("process group of a child that had ended", Syscall.SETPGID, 0, group);
            }
            dead.end(zombie.waitStatus());
        }
    }
}
