package org.udckpt.process.restore;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Zombie;

/**
 * Makes processes whose parents have ended (daemons): each is forked by a process that is made for that, and that ends at once, so
 * that the shepherd gets it as it did then. Who forks it is in its session: a child of the session's leader, or, where that has ended
 * too, a leader in its place, with its pid.
 */
final class Orphans {
    private static final int FIRST_PID = 300;

    private final JobImage image;
    private final Owners owners;
    private final Map<Integer, Puppet> puppets;
    private final BiConsumer<ProcessState, Puppet> grow;

    /** @param grow takes an empty process in, and makes those below it */
    Orphans(JobImage image, Owners owners, Map<Integer, Puppet> puppets, BiConsumer<ProcessState, Puppet> grow) {
        this.image = image;
        this.owners = owners;
        this.puppets = puppets;
        this.grow = grow;
    }

    /** @param led gets the sessions whose leader has ended; those of a zombie have a leader that has not ended yet */
    void build(List<ProcessState> orphans, Map<Integer, Puppet> led) {
        for (ProcessState orphan : orphans) {
            if (orphan.session() == orphan.pid()) {
                fork(puppets.values().iterator().next(), List.of(orphan));
            }
        }
        Map<Integer, List<ProcessState>> bySession = orphans.stream().filter(orphan -> orphan.session() != orphan.pid()).collect(Collectors.groupingBy(ProcessState::session));
        bySession.forEach((session, members) -> {
            Puppet leader = puppets.get(session);
            if (leader != null) {
                fork(leader, members);
            } else {
                led.put(session, lead(session, members));
            }
        });
    }

    private void fork(Puppet parent, List<ProcessState> members) {
        Puppet between = parent.helper(freePid());
        members.forEach(member -> grow.accept(member, between.fork(owners.of(member.pid()))));
        end(between, parent);
    }

    private Puppet lead(int session, List<ProcessState> members) {
        Zombie zombie = image.zombies().stream().filter(one -> one.pid() == session).findFirst().orElse(null);
        Puppet parent = zombie == null ? puppets.values().iterator().next() : puppets.get(zombie.parentPid());
        Puppet leader = parent.helper(session);
        leader.call("setsid in the place of a leader that has ended", Syscall.SETSID);
        members.forEach(member -> grow.accept(member, leader.fork(owners.of(member.pid()))));
        if (zombie == null) {
            end(leader, parent);
        }
        return leader;
    }

    private static void end(Puppet process, Puppet parent) {
        process.end(0);
        parent.call("wait for a process that made orphans", Syscall.WAIT4, process.pid(), 0, 0, 0);
        process.close();
    }

    /** One that nothing of the job has or is called by. */
    private int freePid() {
        Set<Integer> taken = new HashSet<>();
        image.processes().forEach(process -> taken.addAll(List.of(process.pid(), process.processGroup(), process.session())));
        image.threads().forEach(thread -> taken.add(thread.tid()));
        image.zombies().forEach(zombie -> taken.addAll(List.of(zombie.pid(), zombie.processGroup(), zombie.session())));
        int pid = FIRST_PID;
        while (taken.contains(pid)) {
            pid++;
        }
        return pid;
    }
}
