package org.udckpt.job.cli;

import org.udckpt.image.key.ImageKey;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.store.Keys;

/** How verbs that read images, and write none, are told the key of encrypted ones. */
final class KeyOption {
    @picocli.CommandLine.Option(names = "--encrypt", paramLabel = "file:PATH|command:COMMAND",
            description = "read encrypted images with the key that a file or a command gives")
    private String encrypt;

    ImageKey key(Settings settings) {
        return Keys.user(settings.flag(Option.ENCRYPT, encrypt).checked());
    }
}
