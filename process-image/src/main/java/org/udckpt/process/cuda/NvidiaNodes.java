package org.udckpt.process.cuda;

import java.util.Optional;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/** Files of NVIDIA's kernel driver: a process whose CUDA state is suspended has none of them. */
public final class NvidiaNodes {
    private static final String PREFIX = "/dev/nvidia";

    private NvidiaNodes() {}

    /** Whether a path is one of them. */
    public static boolean has(String path) {
        return path.startsWith(PREFIX);
    }

    /**
     * One that a process has open; empty: none, or the process has ended, which the capture sees for itself.
     *
     * @param pid as this process numbers it
     */
    public static Optional<String> openIn(int pid) {
        try {
            for (int fd : Proc.descriptors(pid)) {
                String link = Files.readLink("/proc/" + pid + "/fd/" + fd);
                if (link != null && has(link)) {
                    return Optional.of(link);
                }
            }
        } catch (LinuxError ended) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    /** Why one that is left cannot be checkpointed, and what to do. @param how it is there: open, mapped */
    public static String refusal(String path, String how) {
        return path + " is still " + how + " after the driver has suspended CUDA, so something else uses the GPU (NVML "
                + "with a driver before 570, OpenGL, Vulkan, or a process that was forked after cuInit and has not "
                + "executed another program); close it first, or run without it";
    }
}
