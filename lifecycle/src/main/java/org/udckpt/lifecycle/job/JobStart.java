package org.udckpt.lifecycle.job;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.udckpt.address.AddressMap;
import org.udckpt.address.RankSpan;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobContext;
import org.udckpt.agent.JobFacts;
import org.udckpt.launch.HostLayout;
import org.udckpt.launch.LaunchMode;
import org.udckpt.launch.RankEnvironment;
import org.udckpt.launch.Shepherd;
import org.udckpt.launch.Specification;
import org.udckpt.linux.RawText;
import org.udckpt.support.config.Installation;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;

/** Starts a job from its program. */
public final class JobStart {
    private JobStart() {}

    /**
     * Returns when all ranks run.
     *
     * @param layout one rank on one host for a {@link LaunchMode#TREE}
     * @param command the program, checked, and its arguments
     * @param environment the user's
     */
    public static Job start(Settings settings, Installation installation, String name, LaunchMode launch,
            HostLayout layout,
            List<String> command, Map<String, String> environment) {
        JobFacts facts = new JobFacts(name, imageDirectory(settings, name), launch, layout,
                RankSpan.all(layout.ranks()), command.stream().map(RawText::shown).toList(), 0, null);
        Job job = start(settings, installation, facts, JobContext.alone(name), command, environment, alone -> {});
        try {
            JobService.open(job, installation.library());
            return job;
        } catch (IOException | RuntimeException e) {
            job.close();
            throw Failure.of("starting job " + name, e);
        }
    }

    /**
     * Returns when all ranks of the span run; nothing commands the job yet.
     *
     * @param command     the program, checked, and its arguments
     * @param environment the user's
     * @param ready       is given the job before its first rank runs
     */
    public static Job start(Settings settings, Installation installation, JobFacts facts, JobContext around,
            List<String> command, Map<String, String> environment, Consumer<Job> ready) {
        Job job = new Job(settings, facts, around, new AddressMap(), null);
        try {
            job.attach(Shepherd.start(installation.shepherd(), job.runtime().shepherdSocket(), job.shepherdListener()),
                    installation.agentLibrary());
            ready.accept(job);
            RankEnvironment environments = new RankEnvironment(environment, installation, job.runtime(), facts.launch(),
                    facts.layout(), job.hosts());
            List<String> words = words(installation, facts, command);
            facts.roots().ranks().forEach(rank -> spawn(job, around.directory(), rank, words, environments));
            return job;
        } catch (IOException | RuntimeException e) {
            job.close();
            throw Failure.of("starting job " + facts.name(), e);
        }
    }

    /** What the shepherd executes for each of the {@link JobFacts#roots}. */
    private static List<String> words(Installation installation, JobFacts facts, List<String> command) {
        return switch (facts.launch()) {
            case RANKS, TREE -> command;
            case PMIX -> Stream.concat(Stream.of(installation.pmixLauncher().toString(), facts.layout().format()),
                    command.stream()).toList();
        };
    }

    private static void spawn(Job job, Path directory, int rank, List<String> command, RankEnvironment environments) {
        Path file = job.runtime().path().resolve("rank-" + rank);
        String pmi = switch (job.facts().launch()) {
            case RANKS, PMIX -> job.runtime().pmiSocket().toString();
            case TREE -> "";
        };
        new Specification(directory, pmi, rank == 0, command, environments.of(rank)).write(file);
        job.ranks().started(rank, job.shepherd().spawn(rank, file));
    }

    /** Where a job's checkpoints go. */
    public static Path imageDirectory(Settings settings, String name) {
        String given = settings.text(Option.DIR);
        return JobStorage.directory(settings,
                Path.of(given.isEmpty() ? name + ".ckpt" : given).toAbsolutePath().normalize());
    }
}
