package org.udckpt.process.restore;

import org.udckpt.linux.LinuxError;

/**
 * Directories of files whose content the image holds: a launcher's session directory in /tmp is gone after a reboot, or when
 * somebody has tidied up, and is not needed to put its files back.
 */
final class Directories {
    private static final int MKDIR = 83, OWNERS = 0700;

    private Directories() {}

    /** Makes what is missing above {@code path}, as directories that only their owner can enter. */
    static void above(Puppet maker, String path) {
        for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
            String directory = path.substring(0, slash);
            long made = maker.tryCall(MKDIR, maker.string(directory), OWNERS);
            if (made < 0 && made != -LinuxError.EEXIST) {
                throw maker.changed("cannot make " + directory + " again, for " + path + ": " + LinuxError.name((int) -made));
            }
        }
    }
}
