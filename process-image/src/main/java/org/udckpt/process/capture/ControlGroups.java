package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.GroupMember;
import org.udckpt.process.model.MountView;

/**
 * Reads which processes and threads are in another control group than the process that started their rank (cgroups(7)).
 * Those below that one follow it: a restart puts all into the groups of the command that restarts them, which are the
 * launcher's to choose. Elsewhere only root could have moved them, and can again.
 */
final class ControlGroups {
    /** {@code id:controllers:path} of each hierarchy; null: the kernel has no control groups. */
    private final List<String> origin;

    /** @param origin as {@link SharingCheck#origin} says it */
    ControlGroups(int origin) {
        this.origin = of("/proc/" + origin + "/cgroup");
    }

    private static List<String> of(String file) {
        try {
            return Proc.text(file).lines().toList();
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT) {
                return null;
            }
            throw e;
        }
    }

    /** From outside. */
    void read(TracedProcess process) {
        if (origin == null) {
            return;
        }
        List<GroupMember> members = new ArrayList<>();
        List<String> before = origin;
        for (TracedThread thread : process.threads) {
            List<String> own = of("/proc/" + process.pid + "/task/" + thread.tid + "/cgroup");
            if (!own.equals(before)) {
                List<String> known = before;
                own.stream().filter(line -> !known.contains(line)).forEach(line -> add(members, process, thread, line));
            }
            before = thread == process.main() ? own : before; // the others begin where that is
        }
        process.groupMembers = List.copyOf(members);
    }

    /** Where the rank was not started in the hierarchy, that has come or gone meanwhile. */
    private void add(List<GroupMember> members, TracedProcess process, TracedThread thread, String line) {
        int path = line.indexOf(':', line.indexOf(':') + 1) + 1;
        String start = origin.stream().filter(one -> one.startsWith(line.substring(0, path)))
                .map(one -> one.substring(path)).findFirst().orElse(null);
        String own = line.substring(path);
        if (start == null) {
            return;
        }
        String hierarchy = line.substring(line.indexOf(':') + 1, path - 1);
        boolean below = MountView.isBelow(own, start);
        if (!below && User.id() != 0 || own.endsWith(" (deleted)")) {
            throw process.refuse((thread.tid == process.pid ? "it" : "thread " + thread.tid) + " is in the control "
                    + "group " + own + ", but its rank was started in " + start
                    + (hierarchy.isEmpty() ? "" : " (" + hierarchy + ")")
                    + ": a restart would put it into that of the command that restarts it; "
                    + "move it back first (cgroup.procs), or start the job in the group where it should be");
        }
        members.add(new GroupMember(thread.namespaceTid, hierarchy, below, below ? start : "/",
                below ? MountView.behind(own, start) : own));
    }
}
