package org.udckpt.process.kinds.seccomp;

import static org.udckpt.linux.LinuxConstants.PR_SET_SECCOMP;
import static org.udckpt.linux.LinuxConstants.SECCOMP_FILTER_FLAG_TSYNC;
import static org.udckpt.linux.LinuxConstants.SECCOMP_MODE_STRICT;
import static org.udckpt.linux.LinuxConstants.SECCOMP_SET_MODE_FILTER;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.ClassicBpf;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/**
 * Installs the filters again while the process may still do everything, which they are not asked about: the tracer
 * suspends them until it lets the thread go.
 *
 * <p>What all threads of a process have had first is one filter again, not one for each: on that depends whether a
 * thread can give all others its own (SECCOMP_FILTER_FLAG_TSYNC). The kernel does not tell who shares a filter with
 * whom, so equal ones count as shared.
 */
final class SeccompFilterRestore implements KindRestore<SeccompFilter> {
    private final RestoreScope scope;

    SeccompFilterRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        Map<Integer, Map<Integer, List<SeccompFilter>>> processes = new TreeMap<>();
        for (SeccompFilter filter : scope.objects(SeccompFilter.class)) {
            processes.computeIfAbsent(filter.pid(), _ -> new TreeMap<>())
                    .computeIfAbsent(filter.tid(), _ -> new ArrayList<>()).add(filter);
        }
        processes.forEach(this::install);
    }

    private void install(int pid, Map<Integer, List<SeccompFilter>> byThread) {
        Maker maker = scope.process(pid);
        byThread.keySet().forEach(maker::suspendCallFilters);
        long threads = scope.image().threads().stream().filter(thread -> thread.pid() == pid).count();
        int common = threads > 1 && byThread.size() == threads ? common(List.copyOf(byThread.values())) : 0;
        for (SeccompFilter filter : byThread.getOrDefault(pid, List.of()).subList(0, common)) {
            install(maker, filter, filter.flags() | SECCOMP_FILTER_FLAG_TSYNC);
        }
        byThread.values().forEach(
                own -> own.subList(common, own.size()).forEach(filter -> install(maker, filter, filter.flags())));
    }

    /** How many filters all have at their beginnings; none in strict mode. */
    private static int common(List<List<SeccompFilter>> chains) {
        List<SeccompFilter> first = chains.getFirst();
        for (int i = 0; i < first.size(); i++) {
            SeccompFilter one = first.get(i);
            int place = i;
            if (one.program().length == 0 || !chains.stream().allMatch(
                    chain -> place < chain.size() && chain.get(place).flags() == one.flags()
                            && Arrays.equals(chain.get(place).program(), one.program()))) {
                return i;
            }
        }
        return first.size();
    }

    private static void install(Maker maker, SeccompFilter filter, int flags) {
        int instructions = filter.program().length / ClassicBpf.INSTRUCTION;
        if (instructions == 0) {
            maker.callInThread(filter.tid(), "strict mode of seccomp", Syscall.PRCTL, PR_SET_SECCOMP,
                    SECCOMP_MODE_STRICT);
        } else {
            long program = maker.bytes(filter.program());
            // struct sock_fprog: the length has two bytes
            long argument = maker.structure().i64(instructions).i64(program).put();
            maker.callInThread(filter.tid(), "install a filter of system calls", Syscall.SECCOMP,
                    SECCOMP_SET_MODE_FILTER, flags, argument);
        }
    }
}
