package org.udckpt.process.kinds.mqueue;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * What the kernel tells of a queue (mq_getattr(3), and read(2) as mq_overview(7) describes it).
 *
 * @param waiting messages in it
 * @param notified the process that hears of the next one, as this process numbers it; 0: none
 * @param notification how: SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD
 */
record QueueStatus(long mostMessages, long longestMessage, long waiting, int notified, int notification, int signal) {
    private static final int MOST = 8, LONGEST = 16, WAITING = 24, TEXT_BYTES = 128;
    private static final Pattern TEXT =
            Pattern.compile("QSIZE:\\d+ +NOTIFY:(\\d+) +SIGNO:(\\d+) +NOTIFY_PID:(\\d+) *\\n");

    /** @param queue open for reading, from its beginning */
    static QueueStatus of(int queue) {
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.MQ_GETSETATTR, queue, 0, data.address()), "mq_getattr");
        long most = data.get(JAVA_LONG, MOST);
        long longest = data.get(JAVA_LONG, LONGEST);
        long waiting = data.get(JAVA_LONG, WAITING);
        long n = LinuxError.check(Syscall.call(Syscall.READ, queue, data.address(), TEXT_BYTES),
                "read the status of a message queue");
        String text = new String(data.asSlice(0, n).toArray(JAVA_BYTE), StandardCharsets.US_ASCII);
        Matcher words = TEXT.matcher(text);
        if (!words.matches()) {
            throw new LinuxError("this kernel tells the status of a message queue otherwise: " + text.strip(),
                    LinuxError.EINVAL);
        }
        return new QueueStatus(most, longest, waiting, Integer.parseInt(words.group(3)),
                Integer.parseInt(words.group(1)), Integer.parseInt(words.group(2)));
    }
}
