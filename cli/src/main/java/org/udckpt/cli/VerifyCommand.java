package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.udckpt.image.key.ImageKey;
import org.udckpt.store.ImageLocation;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code udckpt verify}: reads and checks every byte of a checkpoint, or of all; the code is that of the first that is
 * not good.
 */
@Command(name = "verify", description = "Read a whole checkpoint and check every byte.")
final class VerifyCommand implements Callable<Integer> {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--all", description = "verify all complete checkpoints of the directory")
    private boolean all;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    @Parameters(paramLabel = "DIR[/ID]",
            description = "a checkpoint, or the newest complete one of a directory or of fast=DIR,slow=DIR")
    private String image;

    @Override
    public Integer call() {
        ImageKey key = encrypted.key(common.settings());
        List<Verification> done = new ArrayList<>();
        for (ImageLocation location : locations(key)) {
            Verification verification = Verification.of(location, key);
            done.add(verification);
            tell(verification);
        }
        if (json) {
            ObjectNode root = JsonOutput.document();
            ArrayNode list = root.putArray("checkpoints");
            done.forEach(verification -> list.add(verification.json()));
            JsonOutput.print(root);
        }
        Failure first =
                done.stream().filter(verification -> !all || !verification.incomplete() && !verification.elsewhere())
                        .map(Verification::failure).filter(java.util.Objects::nonNull)
                        .findFirst().orElse(null);
        return (first == null ? ExitCode.DONE : first.code()).value();
    }

    private List<ImageLocation> locations(ImageKey key) {
        if (!all) {
            return List.of(ImageLocation.find(image, key));
        }
        List<ImageLocation> found = ImageLocation.all(image, key);
        if (found.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "no checkpoint in " + image);
        }
        return found;
    }

    /**
     * Of several, one that is incomplete is no error: it is being written, or nobody will ever take it. Nor is one that
     * is on its hosts only.
     */
    private void tell(Verification verification) {
        if (verification.failure() == null) {
            if (!json) {
                System.out.println(verification);
            }
        } else if (all && (verification.incomplete() || verification.elsewhere())) {
            Messages.info(verification.toString());
        } else {
            Messages.error(verification.toString(), verification.failure());
        }
    }
}
