package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;

/** Refuses System V message queues; whose they are is told as in {@link SemaphoreCheck}. */
final class MessageQueueCheck {
    private static final int MSGCTL = 71, MSG_INFO = 12;
    /** Columns of /proc/sysvipc/msg (sysvipc(7)): id, last sender, last receiver. */
    private static final int ID = 1, LAST_SENDER = 5, LAST_RECEIVER = 6;
    private static final String OWN_NAMESPACE = Files.readLink("/proc/self/ns/ipc");

    private MessageQueueCheck() {}

    /** On the tracer thread, when system calls can be made in the processes of one rank. */
    static void refuse(List<TracedProcess> processes) {
        TracedProcess root = processes.getFirst();
        if (!OWN_NAMESPACE.equals(Files.readLink("/proc/" + root.pid + "/ns/ipc"))) {
            long results = Parasite.results(root.main().frame);
            root.main().injector.check("msgctl(MSG_INFO)", MSGCTL, 0, MSG_INFO, results);
            if (root.memory.readLong(results) << 32 != 0) { // msgpool of struct msginfo: queues that exist
                throw refusal(root, "");
            }
            return;
        }
        for (String line : Proc.text("/proc/sysvipc/msg").lines().skip(1).toList()) {
            String[] queue = line.strip().split("\\s+");
            for (TracedProcess process : processes) {
                if (process.pid == Integer.parseInt(queue[LAST_SENDER])
                        || process.pid == Integer.parseInt(queue[LAST_RECEIVER])) {
                    throw refusal(process, " " + queue[ID]);
                }
            }
        }
    }

    private static CaptureRefused refusal(TracedProcess process, String which) {
        return process.refuse("System V message queue" + which
                + " is in use, which cannot be checkpointed; remove it first (ipcrm -q)");
    }
}
