package org.udckpt.lifecycle.restart;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.udckpt.agent.Job;
import org.udckpt.linux.Files;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.restore.PrivateFiles;
import org.udckpt.process.restore.RestoreTarget;
import org.udckpt.store.ImageProcesses;
import org.udckpt.support.config.NewVariables;
import org.udckpt.support.report.Messages;

/** Where the restorer puts the processes: this job's shepherd and sockets. */
record RestoredNode(Job job, ImageProcesses processes, RestartPhases phases, InspectionOptions inspection,
        Consumer<String> changed, Map<String, Files.Stat> putBack) implements RestoreTarget {
    private static final Duration JOIN = Duration.ofSeconds(10);

    @Override
    public void clock(long offsetNs) {
        job.shepherd().clock(offsetNs);
    }

    @Override
    public void last(int pid) {
        job.shepherd().last(pid);
    }

    @Override
    public int parent(int pid) {
        return job.shepherd().parent(pid);
    }

    @Override
    public int stub(int pid) {
        return job.shepherd().stub(pid);
    }

    @Override
    public void adopt(int pid, int hostPid) {
        job.shepherd().adopt(pid, hostPid);
    }

    @Override
    public int pmi(int rank, byte[] queued) {
        job.pmi().prime(rank, queued);
        int descriptor = job.shepherd().pmi(rank, job.runtime().pmiSocket());
        job.pmi().awaitJoined(rank, JOIN); // a barrier may end with this rank's first message: it must be known by then
        return descriptor;
    }

    @Override
    public void taken(int descriptor) {
        job.shepherd().taken(descriptor);
    }

    @Override
    public int lazy() {
        return job.shepherd().lazy();
    }

    @Override
    public void go() {
        job.shepherd().go();
    }

    @Override
    public void changesMounted(String root) {
        changed.accept(root);
    }

    @Override
    public List<String> environment() {
        return NewVariables.of(job.settings());
    }

    @Override
    public String name(ProcessState process) {
        return processes.name(process);
    }

    @Override
    public void warn(String what) {
        Messages.warn(what);
    }

    @Override
    public Set<Integer> handedOver() {
        return inspection.debugger() == null ? Set.of() : inspection.debugger().chosen();
    }

    @Override
    public void awaitRelease(Map<Integer, Integer> hostPids) {
        if (inspection.debugger() != null) {
            phases.reached("processes complete");
            inspection.debugger().hold(job.runtime().path(), hostPids);
            phases.reached("debugger");
        }
    }

    @Override
    public boolean cutsFilesBack() {
        return job.facts().span().isAll(); // else ranks of other hosts may run already
    }

    @Override
    public PrivateFiles.Place changes() {
        return inspection.trial() == null ? null : new PrivateFiles.Place(
                inspection.trial().resolve("files").toString(), List.of(job.runtime().path().toString()));
    }

    @Override
    public void reached(String phase) {
        phases.reached(phase);
    }

    @Override
    public Path agentSocket() {
        return job.runtime().agentSocket();
    }
}
