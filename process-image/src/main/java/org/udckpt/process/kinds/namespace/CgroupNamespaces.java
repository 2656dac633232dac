package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWCGROUP;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Namespace;
import org.udckpt.linux.NamespaceCalls;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.CgroupNamespace;
import org.udckpt.process.model.CgroupNamespaceMember;

/**
 * The control group namespaces that a job which stands still has made, by the kernel's numbers. A restart makes them
 * when all processes are in the group of the command that restarts them, which is their root then.
 */
public final class CgroupNamespaces {
    private static final String CGROUP = "cgroup";

    private record One(long owner, List<StoppedProcess> members) {}

    private final Map<Long, One> all = new LinkedHashMap<>();
    private final JobNamespaces users;

    CgroupNamespaces(JobNamespaces users) {
        this.users = users;
    }

    /**
     * A process that has left the one in which the job was started, after its groups have been read.
     *
     * @throws RuntimeException the refusal: it, or the namespace's root, is in another group than the job
     */
    public synchronized void entered(StoppedProcess process, int started) {
        try (Namespace own = Namespace.of(process.task(), CGROUP);
                NamespaceCalls inside = new NamespaceCalls(process.task(), CGROUP, CLONE_NEWCGROUP)) {
            boolean root = inside.text("/proc/" + process.task() + "/cgroup").lines()
                    .allMatch(line -> line.endsWith(":/"));
            if (!root || !process.groupMembers().isEmpty()) {
                throw process.refuse("it is in a cgroup namespace of its own (unshare(2), a container), whose root is "
                        + "not the control group in which the job was started, and which cannot be checkpointed; "
                        + "unshare it there");
            }
            long owner = users.owner(process, CGROUP, started);
            all.computeIfAbsent(own.number(), _ -> new One(owner, new ArrayList<>())).members.add(process);
        } catch (LinuxError e) {
            throw process.refuse("it is in a cgroup namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    /** The records. @param ids of user namespaces, by number */
    synchronized void add(ObjectTable table, Map<Long, Long> ids) {
        for (One one : all.values()) {
            long id = table.newId();
            table.add(new CgroupNamespace(id, ids.get(one.owner)));
            one.members.forEach(
                    process -> table.add(new CgroupNamespaceMember(table.newId(), process.namespacePid(), id)));
        }
    }
}
