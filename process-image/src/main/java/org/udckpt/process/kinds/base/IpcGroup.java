package org.udckpt.process.kinds.base;

import java.util.List;
import java.util.Set;

/**
 * The processes of a job that stands still which are in one IPC namespace (ipc_namespaces(7)).
 *
 * @param id record of the namespace ({@link org.udckpt.process.model.IpcNamespace}); 0: that in which the job was
 *     started
 * @param members at least one
 * @param job all processes of the job here: one that is elsewhere now may have been here before
 * @param queues the directory of all its message queues, for this process; null where the job was started
 * @param devices the device of its message queues; where the job was started, those of all others
 */
public record IpcGroup(long id, List<AskedProcess> members, List<AskedProcess> job, String queues, Set<Long> devices) {
    /** In which calls are made. */
    public AskedProcess caller() {
        return members.getFirst();
    }

    /** Whether a message queue of this device can be one of this namespace. */
    public boolean has(long device) {
        return devices.contains(device) == (id != 0);
    }
}
