package org.udckpt.process.kinds.inotify;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.process.model.JobImage;

/**
 * A descriptor of a process of the job as the path of what is watched: its file has no other name.
 *
 * @param pid as the job numbers it
 */
record DescriptorName(int pid, int fd) {
    /** proc_pid_fd(5). */
    private static final Pattern PATH = Pattern.compile("/proc/([0-9]{1,9})/fd/([0-9]{1,9})");

    String path() {
        return "/proc/" + pid + "/fd/" + fd;
    }

    boolean isIn(JobImage image) {
        return image.descriptors().stream().anyMatch(one -> one.pid() == pid && one.fd() == fd);
    }

    /** Null: it is the path of something else. */
    static DescriptorName of(String path) {
        Matcher matcher = PATH.matcher(path);
        return matcher.matches()
                ? new DescriptorName(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))) : null;
    }
}
