package org.udckpt.process.capture;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.Proc;

/**
 * What a process in a pid namespace of the job's own calls itself, its threads, its group and its session there. By the
 * job's numbers.
 */
final class InnerNumbers {
    private final Map<Integer, Integer> numbers = new LinkedHashMap<>();
    private final int pid;
    private final int group;

    /** All of the namespace. */
    private Map<Integer, Integer> namespace = Map.of();

    private InnerNumbers(int pid, int group) {
        this.pid = pid;
        this.group = group;
    }

    /** Of a process of which the job's own numbers are known. */
    static InnerNumbers of(TracedProcess process, PidLevels levels) {
        if (levels.depth(Proc.field(process.status, "NStgid:")) > 1) {
            throw process.refuse("it is in a pid namespace below another one of the job (unshare(2), a container in a "
                    + "container), which cannot be checkpointed");
        }
        InnerNumbers own = new InnerNumbers(levels.inner(Proc.field(process.status, "NStgid:")),
                levels.inner(Proc.field(process.status, "NSpgid:")));
        own.put(process.namespacePid, own.pid);
        own.put(process.namespaceGroup, own.group);
        own.put(process.namespaceSession, levels.inner(Proc.field(process.status, "NSsid:")));
        return own;
    }

    /** @param inner 0: it has none there */
    void put(int job, int inner) {
        if (inner != 0) {
            numbers.put(job, inner);
        }
    }

    /** Those that there are. */
    Map<Integer, Integer> all() {
        return numbers;
    }

    /** What the namespace numbers how, when all processes are known. */
    void namespace(Map<Integer, Integer> all) {
        namespace = all;
    }

    /** The job's number of what the namespace numbers so; 0: it is nothing of the job. */
    int jobOfAny(int inner) {
        return job(namespace, inner);
    }

    /** Its own number. */
    int pid() {
        return pid;
    }

    /** Whether its process group, of which the namespace knows nothing, came from outside with its first process. */
    boolean groupFromOutside() {
        return group == 0;
    }

    /** The job's number; 0: none of its threads, its group or its session has this one. */
    int job(int inner) {
        return job(numbers, inner);
    }

    private static int job(Map<Integer, Integer> numbers, int inner) {
        return numbers.entrySet().stream().filter(one -> one.getValue() == inner).mapToInt(Map.Entry::getKey)
                .findFirst().orElse(0);
    }
}
