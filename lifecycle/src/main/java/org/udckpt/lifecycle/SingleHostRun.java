package org.udckpt.lifecycle;

import org.udckpt.agent.Job;
import org.udckpt.lifecycle.restart.InspectionOptions;
import org.udckpt.lifecycle.restart.Restart;
import org.udckpt.lifecycle.restart.RestartPhases;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Settings;

/** An incarnation of a job whose ranks all have this process for their agent. */
public record SingleHostRun(Settings settings, Installation installation, Job job) implements JobRun {
    @Override
    public String name() {
        return job.facts().name();
    }

    @Override
    public int await() throws InterruptedException {
        return job.await();
    }

    @Override
    public void end(int code) {
        job.end(code);
    }

    @Override
    public boolean failed(int code) {
        return job.failed(code);
    }

    @Override
    public JobRun again(ImageLocation location, Relocation relocation) {
        return new SingleHostRun(settings, installation, Restart.start(settings, installation, location, name(),
                job.facts().layout(), relocation, InspectionOptions.NONE, RestartPhases.sinceNow()));
    }

    @Override
    public void closeForNextRun() {
        job.closeForNextRun();
    }

    @Override
    public void close() {
        job.close();
    }
}
