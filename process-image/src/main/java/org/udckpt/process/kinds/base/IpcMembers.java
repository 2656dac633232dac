package org.udckpt.process.kinds.base;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.model.IpcNamespaceMember;
import org.udckpt.process.model.IpcPlace;
import org.udckpt.process.model.ProcessState;

/** Who makes objects of IPC namespaces in a restore: processes that are in them. */
public final class IpcMembers {
    private final RestoreScope scope;
    private final Map<Long, Long> places = new HashMap<>();
    private final Map<Integer, Long> members = new HashMap<>();

    /** Of an image. */
    public IpcMembers(RestoreScope scope) {
        this.scope = scope;
        scope.objects(IpcPlace.class).forEach(place -> places.put(place.object(), place.ipcNamespace()));
        scope.objects(IpcNamespaceMember.class).forEach(member -> members.put(member.pid(), member.ipcNamespace()));
    }

    /** Whether a process is in the namespace in which an object is. */
    public boolean has(long object, int pid) {
        return places.getOrDefault(object, 0L).equals(members.getOrDefault(pid, 0L));
    }

    /** The process with this number, if it is in the namespace in which the object is; else another one that is. */
    public Maker user(long object, int pid) {
        if (pid != 0 && has(object, pid) && scope.image().processes().stream().anyMatch(one -> one.pid() == pid)) {
            return scope.process(pid);
        }
        List<Integer> all = scope.image().processes().stream().map(ProcessState::pid)
                .filter(one -> has(object, one)).toList();
        if (all.isEmpty()) {
            throw scope.inconsistent("the image is inconsistent: no process is in the IPC namespace of object "
                    + object);
        }
        return scope.process(all.getFirst());
    }
}
