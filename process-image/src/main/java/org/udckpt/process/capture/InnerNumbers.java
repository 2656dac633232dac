package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;

/**
 * What pid namespaces of the job's own, one in the other, call a process in the innermost of them, its threads, its
 * group and its session. By the job's numbers; the outermost namespace comes first.
 */
final class InnerNumbers {
    /** No level. */
    static final int NONE = -1;

    private final List<Map<Integer, Integer>> numbers = new ArrayList<>();
    private final int[] pids;
    private final boolean groupFromOutside;

    /** All of each namespace. */
    private List<Map<Integer, Integer>> namespaces = List.of();

    private InnerNumbers(int[] pids, int[] groups) {
        this.pids = pids;
        this.groupFromOutside = groups[groups.length - 1] == 0;
        for (int i = 0; i < pids.length; i++) {
            numbers.add(new LinkedHashMap<>());
        }
    }

    /** Of a process of which the job's own numbers are known. */
    static InnerNumbers of(TracedProcess process, PidLevels levels) {
        int[] pids = levels.below(Proc.field(process.status, "NStgid:"));
        int[] groups = levels.below(Proc.field(process.status, "NSpgid:"));
        InnerNumbers own = new InnerNumbers(pids, groups);
        own.put(process.namespacePid, pids);
        own.put(process.namespaceGroup, groups);
        own.put(process.namespaceSession, levels.below(Proc.field(process.status, "NSsid:")));
        return own;
    }

    /** @param inner in each namespace; 0: it has none there */
    void put(int job, int[] inner) {
        for (int i = 0; i < inner.length; i++) {
            if (inner[i] != 0) {
                numbers.get(i).put(job, inner[i]);
            }
        }
    }

    /** Those that there are, in each namespace. */
    List<Map<Integer, Integer>> all() {
        return numbers;
    }

    /** What the namespaces number how, when all processes are known. */
    void namespaces(List<Map<Integer, Integer>> all) {
        namespaces = all;
    }

    /** In how many namespaces it is. */
    int depth() {
        return pids.length;
    }

    /** The job's number of what the innermost namespace numbers so; 0: it is nothing of the job. */
    int jobOfAny(int inner) {
        return jobOfAny(pids.length - 1, inner);
    }

    /** The same of another namespace. @param level from 0, the outermost, on */
    int jobOfAny(int level, int inner) {
        return job(namespaces.get(level), inner);
    }

    /** As it calls itself. */
    int pid() {
        return pid(pids.length - 1);
    }

    /** As a namespace calls it. @param level from 0, the outermost, on */
    int pid(int level) {
        return pids[level];
    }

    /** Whose numbers a proc file system has; {@link #NONE}: of none of these namespaces. */
    int shownBy(int task, String proc) {
        String own = Files.readLink("/proc/" + task + "/ns/pid");
        for (int level = pids.length - 1; level >= 0; level--) {
            String directory = proc + pids[level];
            if (own.equals(Files.readLink(directory + "/ns/pid"))
                    && Proc.field(Proc.text(directory + "/status"), "NStgid:").strip().equals(from(level))) {
                return level;
            }
        }
        return NONE;
    }

    private String from(int level) {
        return IntStream.of(pids).skip(level).mapToObj(Integer::toString).collect(Collectors.joining("\t"));
    }

    /** Whether its process group, of which the namespace knows nothing, came from outside with its first process. */
    boolean groupFromOutside() {
        return groupFromOutside;
    }

    /** The job's number; 0: none of its threads, its group or its session has this one. */
    int job(int inner) {
        return job(numbers.getLast(), inner);
    }

    private static int job(Map<Integer, Integer> numbers, int inner) {
        return numbers.entrySet().stream().filter(one -> one.getValue() == inner).mapToInt(Map.Entry::getKey)
                .findFirst().orElse(0);
    }
}
