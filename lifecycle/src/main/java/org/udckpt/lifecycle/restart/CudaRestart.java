package org.udckpt.lifecycle.restart;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.udckpt.image.read.NodeReader;
import org.udckpt.process.cuda.CudaDriver;
import org.udckpt.process.cuda.CudaError;
import org.udckpt.process.cuda.CudaTimes;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.cuda.GpuPair;
import org.udckpt.process.cuda.SideBySide;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.Region;
import org.udckpt.store.ImageTables;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * The CUDA state of a node's processes, which an image has as the driver left it: suspended. It is restored when their
 * threads run; CUDA calls of theirs wait until then.
 */
public final class CudaRestart {
    private static final CudaRestart NONE = new CudaRestart(null, List.of(), List.of());

    private final CudaDriver driver;
    private final List<CudaTimes> processes;
    private final List<GpuPair> pairs;

    private CudaRestart(CudaDriver driver, List<CudaTimes> processes, List<GpuPair> pairs) {
        this.driver = driver;
        this.processes = processes;
        this.pairs = pairs;
    }

    /**
     * Before anything is started.
     *
     * @param image whose files are where this host has them
     * @throws Failure 69 where this host has no driver, or not the GPUs; 64 for a wrong {@code --map-gpu}
     */
    public static CudaRestart plan(NodeReader node, JobImage image, Settings settings) throws IOException {
        List<CudaTimes> suspended = ImageTables.readCuda(node, image.processes());
        Map<String, String> wanted = GpuMapping.wanted(settings);
        List<Gpu> before = ImageTables.readGpus(node);
        boolean alone = node.checkpoint().nodes().size() == 1;
        for (String old : wanted.keySet()) {
            if (alone && before.stream().noneMatch(gpu -> gpu.uuid().equals(old))) {
                throw new Failure(ExitCode.USAGE, "--map-gpu: the checkpoint has no GPU " + old + "; it has "
                        + (before.isEmpty() ? "none" : String.join(", ", before.stream().map(Gpu::uuid).toList())));
            }
        }
        if (suspended.isEmpty()) {
            return NONE;
        }
        CudaDriver driver = driver(mapped(image, suspended.getFirst()));
        List<GpuPair> pairs = GpuMapping.of(before, driver.gpus(), wanted);
        if (!pairs.isEmpty() && driver.version() < CudaDriver.WITH_PAIRS) {
            throw new Failure(ExitCode.UNSUPPORTED, "the job used other GPUs than this host has, and the driver is for "
                    + "CUDA " + driver.versionText()
                    + ": only from 13.0 on (driver 580) can it restore on another GPU");
        }
        return new CudaRestart(driver, suspended, pairs);
    }

    /** Where the library is here that the process goes on with. */
    private static String mapped(JobImage image, CudaTimes process) {
        String name = name(process.library());
        return image.regions().stream().filter(region -> region.pid() == process.pid()).map(Region::path)
                .filter(path -> path.startsWith("/") && name(path).equals(name)).findFirst()
                .orElse(process.library());
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static Failure missing(String path) {
        return new Failure(ExitCode.UNSUPPORTED, CudaDriver.open(CudaDriver.NAME).isPresent()
                ? "the job goes on with " + path
                        + ", and this host has another version of the driver: restart it where "
                        + "the version is the same"
                : "the job uses CUDA, and this host has no CUDA driver (" + path
                        + " cannot be loaded): restart it on a "
                        + "host with NVIDIA's driver 570 or later");
    }

    /** @param path of the library; its version is the kernel driver's, and no other one can stand in for it */
    private static CudaDriver driver(String path) {
        try {
            CudaDriver driver = CudaDriver.open(path).orElseThrow(() -> missing(path));
            if (!driver.checkpoints()) {
                throw new Failure(ExitCode.UNSUPPORTED, "the job uses CUDA, and the driver of this host (CUDA "
                        + driver.versionText() + ") cannot restore it: driver 570 or later is needed");
            }
            return driver;
        } catch (CudaError e) {
            throw new Failure(ExitCode.UNSUPPORTED, "the job uses CUDA, and the driver of this host cannot be used: "
                    + e.getMessage() + e.advice(), e);
        }
    }

    /** Whether any process has CUDA state: what the driver reads must be in memory then. */
    boolean isNeeded() {
        return !processes.isEmpty();
    }

    /**
     * All processes have their GPUs again, and their CUDA calls go on.
     *
     * @param hostPids as the agent numbers them, by their pids in the image
     * @throws Failure naming one whose state did not come back
     */
    void resume(JobImage image, Map<Integer, Integer> hostPids) {
        SideBySide.each(processes, process -> resume(process, image, hostPids),
                process -> Messages.warn(SideBySide.slow(name(process, image), hostPids.get(process.pid()))));
    }

    private static String name(CudaTimes process, JobImage image) {
        int rank = image.processes().stream().filter(one -> one.pid() == process.pid()).findFirst().orElseThrow()
                .rank();
        return "rank " + rank + ", process " + process.pid();
    }

    private void resume(CudaTimes process, JobImage image, Map<Integer, Integer> hostPids) {
        try {
            int pid = hostPids.get(process.pid());
            driver.restore(pid, pairs);
            driver.unlock(pid);
        } catch (CudaError e) {
            throw new Failure(ExitCode.IO,
                    name(process, image) + ": its CUDA state did not come back: " + e.getMessage() + e.advice(), e);
        }
    }

    /** As {@link #resume}, beside a debugger that holds the processes for as long as it likes. */
    void resumeLater(JobImage image, Map<Integer, Integer> hostPids) {
        if (isNeeded()) {
            Thread.ofPlatform().daemon().name("cuda-restart").start(() -> {
                try {
                    resume(image, hostPids);
                } catch (RuntimeException e) {
                    Messages.error(e.getMessage(), e);
                }
            });
        }
    }
}
