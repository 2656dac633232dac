package org.udckpt.process.model;

import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** The signals by which processes are stopped (signal(7)), and which of them would stop a restarted process again. */
public final class StopSignals {
    private static final int SIGTSTP = 20, SIGTTIN = 21, SIGTTOU = 22, ACTION_BYTES = 32;

    private StopSignals() {}

    /** One by which a process can have been stopped, other than SIGSTOP. */
    public static boolean isOne(long signal) {
        return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
    }

    /**
     * The signal that stops {@code process} again as it was stopped. Unlike SIGSTOP the others do not stop a process
     * that has a handler for them, or whose process group is orphaned: where the parents that kept it from that are no
     * part of the job (a shell), it is SIGSTOP.
     */
    public static int of(JobImage image, ProcessState process) {
        int signal = image.attributes().stream()
                .filter(one -> one.pid() == process.pid() && one.kind() == AttributeKind.STOP_SIGNAL)
                .mapToInt(one -> (int) one.values()[0]).findFirst()
                .orElse(SIGSTOP);
        return isOne(signal) && isDefault(process, signal) && !orphaned(image.processes(), process) ? signal : SIGSTOP;
    }

    private static boolean isDefault(ProcessState process, int signal) {
        return ByteBuffer.wrap(process.signalActions()).order(ByteOrder.LITTLE_ENDIAN).getLong(signal * ACTION_BYTES)
                == 0;
    }

    /** No member has a parent in another group of the same session (setpgid(2)). */
    private static boolean orphaned(List<ProcessState> all, ProcessState process) {
        return all.stream().filter(one -> one.processGroup() == process.processGroup())
                .noneMatch(member -> all.stream().anyMatch(parent -> parent.pid() == member.parentPid()
                        && parent.session() == member.session() && parent.processGroup() != member.processGroup()));
    }
}
