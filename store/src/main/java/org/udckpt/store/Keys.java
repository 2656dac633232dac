package org.udckpt.store;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.udckpt.image.key.EncryptionSecret;
import org.udckpt.image.key.ImageKey;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** The user's key, which seals images, and the one that encrypts them, where the settings name one. */
public final class Keys {
    /** By where it comes from: a command is asked once, it may be a person who answers. */
    private static final Map<String, EncryptionSecret> SECRETS = new ConcurrentHashMap<>();

    private Keys() {}

    /** By the files and the environment alone. */
    public static ImageKey user() {
        return user(Settings.load());
    }

    /** The key of a reader; there may be none, and none is made then. */
    public static ImageKey user(Settings settings) {
        return key(settings, ImageKey::ofReader);
    }

    /** The key of a writer; made on first use. */
    public static ImageKey writer(Settings settings) {
        return key(settings, ImageKey::ofUser);
    }

    private interface Source {
        ImageKey of(Map<String, String> environment) throws IOException;
    }

    private static ImageKey key(Settings settings, Source user) {
        try {
            ImageKey key = user.of(System.getenv());
            String source = settings.text(Option.ENCRYPT);
            return source.isEmpty() ? key : key.with(secret(source));
        } catch (IllegalArgumentException e) {
            throw settings.bad(Option.ENCRYPT, "file:PATH or command:COMMAND");
        } catch (IOException e) {
            throw new Failure(ExitCode.PERMISSION, "the key of the images: " + e.getMessage(), e);
        }
    }

    private static EncryptionSecret secret(String source) throws IOException {
        EncryptionSecret known = SECRETS.get(source);
        if (known == null) {
            known = EncryptionSecret.from(source);
            SECRETS.put(source, known);
        }
        return known;
    }
}
