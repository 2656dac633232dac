package org.udckpt.linux;

import java.io.IOException;

/**
 * The error that a socket has to tell its process next (sk_err, net/sock.h). Every call that tells it, also SO_ERROR
 * and a read that only looks, takes it away: only the kernel's memory shows it and leaves it there.
 */
public final class PendingError {
    private PendingError() {}

    /**
     * Its number of errno(3); 0: none.
     *
     * @param socket a descriptor of this process, to whose socket nothing happens meanwhile
     * @throws LinuxError this user, or this kernel, cannot read it. @throws IOException as that
     */
    public static int of(int socket) throws IOException {
        try (KernelReader kernel = new KernelReader()) {
            return kernel.number(kernel.socket(kernel.currentTask(), socket), "sock", "sk_err");
        }
    }
}
