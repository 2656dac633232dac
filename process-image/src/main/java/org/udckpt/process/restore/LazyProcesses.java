package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.linux.UserfaultFd;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.restore.lazy.Filling;
import org.udckpt.process.restore.lazy.LazyMemory;
import org.udckpt.process.restore.lazy.LazyPlan;
import org.udckpt.process.restore.lazy.Support;
import org.udckpt.process.restore.lazy.Userfault;

/**
 * The part of the processes' memory that comes in after the start. Its tracees wait for pages as soon as they are
 * registered.
 */
final class LazyProcesses implements AutoCloseable {
    private static final long LEAST_MAPPING = 1 << 20; // a smaller one is read as fast as it is registered
    private final Map<Integer, LazyPlan> plans;
    private final RestoreTarget target;
    private LazyMemory memory;
    private boolean kept;

    private LazyProcesses(Map<Integer, LazyPlan> plans, RestoreTarget target) {
        this.plans = plans;
        this.target = target;
    }

    /** @param least so many bytes must be able to wait, or everything is read before the start */
    static LazyProcesses plan(List<ProcessState> processes, Function<ProcessState, List<Region>> regions,
            Map<Long, MemorySource> contents, long least, RestoreTarget target) {
        Map<Integer, LazyPlan> plans = new HashMap<>();
        long bytes = 0;
        for (ProcessState process : processes) {
            MemorySource source = contents.get((long) process.pid());
            if (source != null) {
                LazyPlan plan = LazyPlan.of(regions.apply(process), source.extents(), Math.min(least, LEAST_MAPPING));
                bytes += plan.bytes(source.extents());
                plans.put(process.pid(), plan);
            }
        }
        plans.values().removeIf(plan -> plan.regions().isEmpty());
        return new LazyProcesses(bytes < least ? Map.of() : plans, target);
    }

    /**
     * When the process's mappings are there: what of its memory has to be read now.
     *
     * @param shepherd its number in its namespace
     */
    MemorySource begin(Tracee tracee, int shepherd, MemorySource contents) {
        LazyPlan plan = plans.get(tracee.pid());
        if (plan == null) {
            return contents;
        }
        if (memory == null) {
            memory = new LazyMemory(connect(tracee, shepherd));
        }
        memory.add(tracee.hostPid(), context(tracee), plan, contents);
        return ProcessContents.without(contents, plan.regions());
    }

    /** This process's end of a socket of the shepherd's. */
    private int connect(Tracee tracee, int number) {
        int descriptor = target.lazy();
        try (ProcessHandleFd shepherd = new ProcessHandleFd(tracee.host(number))) {
            return shepherd.duplicate(descriptor);
        } finally {
            target.taken(descriptor);
        }
    }

    /** Made in the tracee, since a context belongs to the memory of its maker, and then held by this process alone. */
    private static Userfault context(Tracee tracee) {
        long device =
                tracee.tryCall(Syscall.OPEN, tracee.string(Support.device()), Syscall.O_RDWR | Syscall.O_CLOEXEC, 0);
        if (device < 0 && User.id() == 0) { // it is another user already (FirstIdentity)
            device = given(tracee);
        }
        long made = device < 0 ? tracee.call("userfaultfd", UserfaultFd.SYSTEM_CALL, Userfault.FLAGS)
                : tracee.call("make a userfaultfd", Syscall.IOCTL, device, Userfault.NEW, Userfault.FLAGS);
        Userfault context;
        try (ProcessHandleFd process = new ProcessHandleFd(tracee.hostPid())) {
            context = new Userfault(process.duplicate((int) made));
        }
        Batch batch = new Batch(tracee);
        batch.close(made);
        if (device >= 0) {
            batch.close(device);
        }
        batch.run();
        LinuxError.check(context.agree(), tracee.name() + ": agree upon userfaultfd(2)");
        return context;
    }

    /** The device, opened by this process; less than 0: there is none. */
    private static long given(Tracee tracee) {
        long opened = Files.tryOpen(Support.device(), Syscall.O_RDWR | Syscall.O_CLOEXEC);
        if (opened < 0) {
            return opened;
        }
        try {
            return Handover.give(tracee, List.of((int) opened))[0];
        } finally {
            Files.close((int) opened);
        }
    }

    /** What its threads use at once. Any thread. */
    void needAtOnce(Tracee tracee, List<ThreadState> threads) {
        for (long[] range : LazyPlan.atOnce(threads)) {
            need(tracee, range[0], range[1]);
        }
    }

    /** Before this process reads or writes a tracee's memory: the kernel lets no debugger wait for a page (EIO). */
    void need(Tracee tracee, long start, long end) {
        if (memory != null) {
            memory.need(tracee.hostPid(), start, end);
        }
    }

    /** What somebody waits for comes in from now on. */
    void serve() {
        if (memory != null) {
            memory.serve();
        }
    }

    /** So does the rest. */
    void fetchRest() {
        if (memory != null) {
            memory.fetchRest();
        }
    }

    /** The job runs: what is missing is the caller's business now. */
    Filling keep() {
        kept = true;
        return memory == null ? Filling.NOTHING : memory;
    }

    @Override
    public void close() {
        if (!kept && memory != null) {
            memory.close();
        }
    }
}
