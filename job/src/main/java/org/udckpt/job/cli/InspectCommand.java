package org.udckpt.job.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.image.key.ImageKey;
import org.udckpt.job.look.CheckpointView;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.OpenImage;
import org.udckpt.job.store.ProcessChoice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt inspect}: what is in a checkpoint. */
@Command(name = "inspect", description = "What is in a checkpoint: ranks, memory, descriptors, endpoints, times.")
final class InspectCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--rank", paramLabel = "R", description = "all of one rank: its threads, mappings and descriptors")
    private Integer rank;

    @Option(names = "--pid", paramLabel = "P", description = "the same of one process")
    private Integer pid;

    @Option(names = "--node", paramLabel = "N", description = "with --pid, in a checkpoint of several nodes: whose pid it is")
    private Integer node;

    @Option(names = "--files", description = "the job's files in it, one a line, with what is on disk now")
    private boolean files;

    @Option(names = "--phases", description = "how long each phase took, on each node, and each level of the coordination's tree")
    private boolean phases;

    @Option(names = "--json", description = "as JSON, schema 1: always all")
    private boolean json;

    @Parameters(paramLabel = "DIR[/ID]", description = "a checkpoint, or the newest complete one of a directory or of fast=DIR,slow=DIR")
    private String image;

    @Override
    public Integer call() {
        ImageKey key = encrypted.key(common.settings());
        ProcessChoice choice = new ProcessChoice(rank, pid, node);
        try (OpenImage open = OpenImage.open(image, key)) {
            CheckpointView view = CheckpointView.of(open);
            List<ProcessChoice.Chosen> chosen = choice.all(open);
            if (json) {
                JsonOutput.print(InspectJson.of(view, chosen));
            } else if (files) {
                open.nodes().forEach(node -> {
                    if (open.several()) {
                        System.out.println(open.place(node).strip());
                    }
                    new InspectFilesText(node.image().files()).printAll();
                    new InspectIdentitiesText(node.image().identities()).printAll();
                });
            } else if (phases) {
                new PhasesText(view).print();
            } else if (pid != null) {
                new InspectRankText(view).print(chosen.getFirst());
            } else if (rank != null) {
                new InspectRankText(view).print(rank);
            } else {
                new InspectText(view).print();
            }
            return ExitCode.DONE.value();
        } catch (IOException e) {
            throw Failure.of("inspecting " + image, e);
        }
    }
}
