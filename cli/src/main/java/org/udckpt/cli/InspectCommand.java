package org.udckpt.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.image.key.ImageKey;
import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.store.OpenImage;
import org.udckpt.store.ProcessChoice;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt inspect}: what is in a checkpoint. */
@Command(name = "inspect", description = "Show what is in a checkpoint: ranks, memory, descriptors, endpoints, times.")
final class InspectCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--rank", paramLabel = "R", description = "show one rank: its threads, mappings and descriptors")
    private Integer rank;

    @Option(names = "--pid", paramLabel = "P", description = "show one process in the same way")
    private Integer pid;

    @Option(names = "--node", paramLabel = "N", description = "with --pid, in a checkpoint of several nodes: the "
            + "node of the process")
    private Integer node;

    @Option(names = "--files", description = "list the saved files, with their state on disk now")
    private boolean files;

    @Option(names = "--phases", description = "show the duration of each phase on each node and at each level of the "
            + "agent tree")
    private boolean phases;

    @Option(names = "--json", description = "print JSON, schema 1: always everything")
    private boolean json;

    @Parameters(paramLabel = "DIR[/ID]",
            description = "a checkpoint, or the newest complete one of a directory or of fast=DIR,slow=DIR")
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
                    new InspectIdentitiesText(node.image().identities(), node.savedLibraries()).printAll();
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
