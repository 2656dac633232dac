package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.PR_SET_SECUREBITS;
import static org.udckpt.linux.LinuxConstants.SECBIT_NO_SETUID_FIXUP;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.Privileges;

/**
 * Who a process is when it makes or enters a user namespace: while it may still become anybody, since what it is
 * afterwards the namespace may have no number for.
 */
public final class FirstIdentity {
    private FirstIdentity() {}

    /** Makes {@code maker} who the image's process {@code pid} is; it keeps its capabilities. */
    public static void take(Maker maker, JobImage image, int pid) {
        for (Privileges privileges : image.privileges()) {
            if (privileges instanceof Privileges.Credentials wanted && wanted.pid() == pid && wanted.tid() == pid) {
                maker.call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
                maker.call("setgroups", Syscall.SETGROUPS, wanted.supplementary().length,
                        list(maker, wanted.supplementary()).put());
                maker.call("setresgid", Syscall.SETRESGID, id(wanted.groups()[0]), id(wanted.groups()[1]),
                        id(wanted.groups()[2]));
                maker.call("setresuid", Syscall.SETRESUID, id(wanted.users()[0]), id(wanted.users()[1]),
                        id(wanted.users()[2]));
            }
        }
    }

    private static Struct list(Maker maker, int[] numbers) {
        Struct list = maker.structure();
        for (int number : numbers) {
            list.i32(number);
        }
        return list;
    }

    private static long id(int id) {
        return Integer.toUnsignedLong(id);
    }
}
