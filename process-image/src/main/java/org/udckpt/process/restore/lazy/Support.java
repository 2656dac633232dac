package org.udckpt.process.restore.lazy;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UserfaultFd;

/** Whether this process may fill the memory of a job while the job runs. */
public final class Support {
    private static final String DEVICE = "/dev/userfaultfd";

    private Support() {}

    /** Null when it may, else the reason. It is tried out, on this process's own memory. */
    public static String refusal() {
        long made = open();
        if (made < 0) {
            return DEVICE + " or userfaultfd(2) is refused: " + LinuxError.name((int) -made);
        }
        try (Userfault own = new Userfault((int) made)) {
            long agreed = own.agree();
            return agreed == 0 ? null
                    : agreed == -LinuxError.EPERM ? "a fork(2) of the job could not be followed without CAP_SYS_PTRACE"
                            : "this kernel's userfaultfd(2) does not report all changes of a job's memory: "
                                    + LinuxError.name((int) -agreed);
        }
    }

    private static long open() {
        long device = Syscall.call(Syscall.OPEN, Scratch.string(DEVICE), Syscall.O_RDWR | Syscall.O_CLOEXEC, 0);
        if (device < 0 && Syscall.call(Syscall.GETEUID) != 0) {
            return device; // in the user namespace of its restored processes, only the device may be used
        }
        if (device < 0) {
            return Syscall.call(UserfaultFd.SYSTEM_CALL, Userfault.FLAGS);
        }
        long made = Syscall.call(Syscall.IOCTL, device, Userfault.NEW, Userfault.FLAGS);
        Files.close((int) device);
        return made;
    }

    /** Its path, in every process that is to have a context. */
    public static String device() {
        return DEVICE;
    }
}
