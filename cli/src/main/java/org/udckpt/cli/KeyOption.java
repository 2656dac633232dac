package org.udckpt.cli;

import org.udckpt.image.key.ImageKey;
import org.udckpt.store.Keys;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;

/** How verbs that read images, and write none, are told the key of encrypted ones. */
final class KeyOption {
    @picocli.CommandLine.Option(names = "--encrypt", paramLabel = "file:PATH|command:COMMAND",
            description = "read encrypted images with the key from a file or a command")
    private String encrypt;

    ImageKey key(Settings settings) {
        return Keys.user(settings.flag(Option.ENCRYPT, encrypt).checked());
    }
}
