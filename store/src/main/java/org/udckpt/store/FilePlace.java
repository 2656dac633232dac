package org.udckpt.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.linux.Proc;

/**
 * By which files of two nodes are told to be one file or two.
 *
 * @param boot        of the machine's kernel: device numbers of one boot mean the same (random(4), boot_id)
 * @param imageDevice the device of the directory of checkpoints as the node sees it: all nodes share what is there
 */
public record FilePlace(String boot, long imageDevice) {
    private static final String BOOT = "/proc/sys/kernel/random/boot_id";

    /** The place of this process's files. @param images a directory that all nodes of the job see */
    public static FilePlace of(Path images) throws IOException {
        return new FilePlace(Proc.text(BOOT).strip(), (long) Files.getAttribute(images, "unix:dev"));
    }
}
