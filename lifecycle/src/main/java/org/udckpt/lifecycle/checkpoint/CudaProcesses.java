package org.udckpt.lifecycle.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobProcess;
import org.udckpt.agent.JobRanks;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.process.cuda.CudaDriver;
import org.udckpt.process.cuda.CudaError;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.cuda.NvidiaNodes;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Finds the processes of a job that use CUDA, while it runs. The driver is loaded only where one has it mapped. */
final class CudaProcesses {
    private CudaProcesses() {}

    /**
     * @param libraries paths of the driver's library, by the processes that have it mapped, as the agent numbers them
     * @throws Failure 69 where one has a GPU open that its driver cannot let go
     */
    static CudaSuspension of(Job job, Map<Integer, String> libraries) {
        if (libraries.isEmpty()) {
            return CudaSuspension.NONE;
        }
        JobRanks ranks = job.jobRanks();
        Map<Integer, OptionalInt> numbers = ranks.byProcess();
        List<CudaProcess> found = new ArrayList<>();
        for (JobProcess process : ranks.processes()) {
            String library = libraries.get(process.hostPid());
            if (library != null) {
                OptionalInt rank = numbers.getOrDefault(process.hostPid(), OptionalInt.empty());
                String name = (rank.isPresent() ? "rank " + rank.getAsInt() + ", " : "") + "process "
                        + process.hostPid();
                driver(process.hostPid(), name, library).ifPresent(driver -> found
                        .add(new CudaProcess(driver, name, process.hostPid(), process.pid(), library)));
            }
        }
        found.forEach(process -> process.leave(job.tracking()));
        if (found.isEmpty()) {
            return CudaSuspension.NONE;
        }
        Duration timeout = job.settings().cudaLockTimeout();
        try {
            List<Gpu> gpus = found.getFirst().driver().gpus();
            return new CudaSuspension(found, gpus, timeout, job.facts().span().isAll());
        } catch (CudaError e) {
            throw new Failure(ExitCode.IO, "the GPUs of this host: " + e.getMessage(), e);
        }
    }

    /**
     * Empty: the process has loaded the library, and no CUDA state (UCX, for one, loads it to look for GPUs). Any
     * library of the driver's that is loaded here will do, where the process has another file system: its version is
     * that of the driver in the kernel.
     */
    private static Optional<CudaDriver> driver(int pid, String name, String library) {
        String why;
        try {
            Optional<CudaDriver> driver = CudaDriver.open(library).or(() -> CudaDriver.open(CudaDriver.NAME));
            if (driver.isPresent()) {
                driver.get().requireState(pid);
                return driver;
            }
            why = library + " cannot be loaded";
        } catch (CudaError e) {
            why = e.getMessage() + e.advice();
        } catch (UntrustedPath e) {
            why = e.getMessage();
        }
        Optional<String> gpu = NvidiaNodes.openIn(pid);
        if (gpu.isPresent()) {
            throw new Failure(ExitCode.UNSUPPORTED, name + " has " + gpu.get() + " open, but its CUDA state cannot be "
                    + "suspended: " + why + "; 'udckpt check' says what the driver supports");
        }
        Messages.debugStep(name + " maps " + library + " and has no CUDA state: " + why);
        return Optional.empty();
    }
}
