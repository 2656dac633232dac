package org.udckpt.inspect.check;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.cuda.CudaDriver;
import org.udckpt.process.cuda.CudaError;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.support.report.Durations;

/** Which GPUs are here, and whether their driver can suspend the ranks that use them. */
final class CudaCheck {
    private static final String KERNEL_DRIVER = "/proc/driver/nvidia/version";
    private static final Pattern VERSION = Pattern.compile("\\b\\d{3}\\.\\d+(?:\\.\\d+)?\\b");

    private CudaCheck() {}

    static Finding look() {
        try {
            Optional<CudaDriver> driver = CudaDriver.open(CudaDriver.NAME);
            return driver.isEmpty() ? Finding.ok("GPUs", "no CUDA driver") : of(driver.get());
        } catch (CudaError e) {
            return new Finding("GPUs", Finding.State.NOTE, "the CUDA driver cannot be used: " + e.getMessage(),
                    "ranks that use CUDA cannot run here, nor be restarted");
        }
    }

    private static Finding of(CudaDriver driver) {
        List<Gpu> gpus = driver.gpus();
        String found = "driver " + kernelDriver() + "for CUDA " + driver.versionText() + "; "
                + String.join(", ", gpus.stream().map(
                        gpu -> gpu.name() + " with " + Durations.bytes(gpu.memory()) + " (" + gpu.uuid() + ")")
                        .toList());
        if (!driver.checkpoints()) {
            return new Finding("GPUs", Finding.State.NOTE, found,
                    "jobs that use CUDA cannot be checkpointed: driver 570 or later is needed");
        }
        return Finding.ok("GPUs", found + (driver.version() < CudaDriver.WITH_PAIRS
                ? "; checkpoints, restarts on the same GPUs (other ones: driver 580)"
                : "; checkpoints, restarts on the same or other GPUs"));
    }

    /** {@code 570.86.10 }; empty where the kernel's half does not say it. */
    private static String kernelDriver() {
        try {
            Matcher version = VERSION.matcher(Proc.text(KERNEL_DRIVER));
            return version.find() ? version.group() + " " : "";
        } catch (LinuxError e) {
            if (e.errno() != LinuxError.ENOENT) {
                throw e;
            }
            return "";
        }
    }
}
