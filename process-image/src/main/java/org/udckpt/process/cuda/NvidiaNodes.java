package org.udckpt.process.cuda;

/** Files of NVIDIA's kernel driver: a process whose CUDA state is suspended has none of them. */
public final class NvidiaNodes {
    private static final String PREFIX = "/dev/nvidia";

    private NvidiaNodes() {}

    /** Whether a path is one of them. */
    public static boolean has(String path) {
        return path.startsWith(PREFIX);
    }

    /** Why one that is left cannot be checkpointed, and what to do. @param how it is there: open, mapped */
    public static String refusal(String path, String how) {
        return path + " is still " + how + " after the driver has suspended CUDA, so something else uses the GPU (NVML "
                + "with a driver before 570, OpenGL, Vulkan, or a process that was forked after cuInit and has not "
                + "executed another program); close it first, or run without it";
    }
}
