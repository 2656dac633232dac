package org.udckpt.process.kinds.mount;

import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.MountLine;
import org.udckpt.process.kinds.base.StoppedProcess;

/** Which pid namespace a proc file system shows: the processes that it has tell it. */
final class ShownPids {
    /** The job's. */
    static final long JOBS = 0;

    private final Map<Long, StoppedProcess> firsts;
    private final StoppedProcess any;

    /**
     * @param firsts by the numbers of the job's own pid namespaces, their first processes
     * @param any a process where the job was started
     */
    ShownPids(Map<Long, StoppedProcess> firsts, StoppedProcess any) {
        this.firsts = firsts;
        this.any = any;
    }

    /** The namespace's number, or {@link #JOBS}. @throws RuntimeException the refusal of another one */
    long of(Iterable<Map.Entry<MountNamespace, MountLine>> mounts) {
        MountNamespace seen = null;
        for (Map.Entry<MountNamespace, MountLine> one : mounts) {
            MountNamespace namespace = one.getKey();
            MountLine line = one.getValue();
            seen = namespace;
            if (line.root().equals("/") && namespace.isVisible(line)) {
                String place = namespace.thread().root() + line.point();
                for (Map.Entry<Long, StoppedProcess> first : firsts.entrySet()) {
                    if (shows(place, first.getValue(), first.getValue().ownPid())) {
                        return first.getKey();
                    }
                }
                if (shows(place, any, any.namespacePid())) {
                    return JOBS;
                }
            }
        }
        if (firsts.isEmpty() || seen == null) {
            return JOBS;
        }
        throw seen.refusal("has a /proc of which no pid namespace of the job is known, which");
    }

    private static boolean shows(String place, StoppedProcess process, int number) {
        String link = Files.readLink(place + "/" + number + "/ns/pid");
        return link != null && link.equals(Files.readLink("/proc/" + process.task() + "/ns/pid"));
    }
}
