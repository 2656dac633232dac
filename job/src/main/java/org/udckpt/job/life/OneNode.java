package org.udckpt.job.life;

import org.udckpt.job.agent.Job;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Settings;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.process.restore.Relocation;

/** A life of a job whose ranks all have this process for their agent. */
public record OneNode(Settings settings, Installation installation, Job job) implements Life {
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
    public Life again(ImageLocation location, Relocation relocation) {
        return new OneNode(settings, installation, Restart.start(settings, installation, location, name(), job.facts().layout(), relocation, Onlooker.NONE, RestartPhases.sinceNow()));
    }

    @Override
    public void closeForNextLife() {
        job.closeForNextLife();
    }

    @Override
    public void close() {
        job.close();
    }
}
