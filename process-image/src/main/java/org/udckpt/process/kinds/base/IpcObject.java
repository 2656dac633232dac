package org.udckpt.process.kinds.base;

import java.nio.charset.StandardCharsets;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * System V objects, which programs know by a number: the kernel gives a new one the number that was written to
 * /proc/sys/kernel/{shm,sem,msg}_next_id before (needs CAP_CHECKPOINT_RESTORE over the ipc namespace).
 */
public final class IpcObject {
    private static final int IPC_CREAT = 01000, IPC_EXCL = 02000;

    private IpcObject() {}

    /**
     * Refuses an object whose number a restart could not choose here. Who may is another matter: an ordinary user's
     * restart has a namespace of its own.
     *
     * @param numbers as with {@link #make}
     */
    public static void requireNextId(StoppedProcess process, String what, String numbers) {
        String file = "/proc/sys/kernel/" + numbers;
        long fd = Files.tryOpen(file, Syscall.O_WRONLY | Syscall.O_CLOEXEC);
        if (fd == -LinuxError.EROFS || fd == -LinuxError.ENOENT) {
            throw process.refuse("it has " + what + ", to which a restart could not give its number again (open " + file
                    + ": " + LinuxError.name((int) -fd) + "); let /proc/sys be written to here (mount -o remount,rw), "
                    + "or remove the object (ipcrm)");
        }
        if (fd >= 0) {
            Files.close((int) fd);
        }
    }

    /**
     * Makes an object.
     *
     * @param what names it in errors
     * @param numbers the file of /proc/sys/kernel that chooses the number
     * @param ipcId that number
     * @param get makes it: shmget(2), semget(2) or msgget(2), with the flags that are given to it
     */
    public static void make(Maker maker, String what, String numbers, int ipcId, int mode, Get get) {
        choose(maker, what, numbers, ipcId);
        long id = get.make(IPC_CREAT | IPC_EXCL | mode);
        if (id == -LinuxError.EEXIST) {
            throw maker.inUse(what + ": another object of the job has its key");
        }
        if (id < 0) {
            throw maker.failed("make " + what + ": " + LinuxError.name((int) -id)
                    + (id == -LinuxError.ENOSPC || id == -LinuxError.EINVAL
                            ? "; see the limits kernel.sem, kernel.msgmni and kernel.shmmni (sysctl)"
                            : ""));
        }
        if (id != ipcId) {
            throw maker.failed(what + ": the kernel gave id " + id);
        }
    }

    /** One of the calls. */
    public interface Get {
        /** The number, or {@code -errno}. */
        long make(int flags);
    }

    private static void choose(Maker maker, String what, String numbers, int ipcId) {
        String file = "/proc/sys/kernel/" + numbers;
        long fd = maker.tryCall(
                Syscall.OPEN, maker.string(file), Syscall.O_WRONLY | Syscall.O_CLOEXEC, 0);
        if (fd < 0) {
            throw maker.unsupported(what + " needs its number again, which this machine does not let the restart choose"
                    + " (open " + file + ": " + LinuxError.name((int) -fd) + "); restart it as root");
        }
        byte[] text = Integer.toString(ipcId).getBytes(StandardCharsets.US_ASCII);
        maker.call("write " + file, Syscall.WRITE, fd, maker.bytes(text), text.length);
        maker.call("close", Syscall.CLOSE, fd);
    }
}
