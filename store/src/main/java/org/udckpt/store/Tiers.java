package org.udckpt.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.image.catalogue.Tier;
import org.udckpt.image.catalogue.TieredCatalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.linux.Files;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * A job's tiers, {@code fast=DIR,slow=DIR} on the command line: checkpoints are written to the one and copied to the
 * other. With {@code local=DIR,slow=DIR} each host of a job of several has the fast one for itself.
 *
 * @param fast a burst buffer, a local SSD: durable against the end of the job
 * @param slow a parallel file system: durable against the loss of {@code fast}
 */
public record Tiers(Tier.Directory fast, Tier.Directory slow) {
    private static final String SLOW = "slow";
    private static final String LOCAL = "local";
    private static final Pattern FORM = Pattern.compile("(fast|local|slow)=([^,]+),(fast|local|slow)=([^,]+)");

    /** Empty where the text is of another form, such as a directory's name. */
    public static Optional<Tiers> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches() || matcher.group(1).equals(SLOW) == matcher.group(3).equals(SLOW)) {
            return Optional.empty();
        }
        boolean fastFirst = matcher.group(3).equals(SLOW);
        Path fast = absolute(matcher.group(fastFirst ? 2 : 4));
        Path slow = absolute(matcher.group(fastFirst ? 4 : 2));
        if (fast.equals(slow)) {
            throw new Failure(ExitCode.USAGE, text + ": fast and slow are the same directory");
        }
        return Optional.of(
                new Tiers(new Tier.Directory(matcher.group(fastFirst ? 1 : 3), fast), new Tier.Directory(SLOW, slow)));
    }

    /** The tiers of the settings; empty: all checkpoints are in one directory. */
    public static Optional<Tiers> of(Settings settings) {
        String text = settings.text(Option.TIERS);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(parse(text).orElseThrow(() -> new Failure(ExitCode.USAGE,
                settings.value(Option.TIERS).origin() + ": '" + text + "' is not valid for tiers; give "
                        + "fast=DIR,slow=DIR, or local=DIR,slow=DIR if each host has its own fast tier")));
    }

    private static Path absolute(String directory) {
        return Path.of(directory).toAbsolutePath().normalize();
    }

    /** Whether each host of a job of several has the fast one for itself. */
    public boolean local() {
        return fast.name().equals(LOCAL);
    }

    /** The fastest first. */
    public List<Tier> all() {
        return List.of(fast, slow);
    }

    /** Whether {@code directory} is one of them. */
    public boolean has(Path directory) {
        return fast.path().equals(directory) || slow.path().equals(directory);
    }

    /** Where the other tier would have a whole copy of a checkpoint that is in one of them. */
    public Optional<Path> other(Path checkpoint) {
        Path parent = checkpoint.getParent();
        return parent.equals(fast.path()) ? Optional.of(slow.path().resolve(checkpoint.getFileName()))
                : parent.equals(slow.path()) && !local() ? Optional.of(fast.path().resolve(checkpoint.getFileName()))
                        : Optional.empty();
    }

    public TieredCatalogue catalogue(ImageKey key) {
        return new TieredCatalogue(all(), key);
    }

    /**
     * Two names of one directory, by a link or a mount: then a copy would be taken for another one, and what it
     * replaces would go.
     */
    public void refuseSame() throws IOException {
        Files.Stat one = Files.tryStat(fast.path().toString());
        Files.Stat other = Files.tryStat(slow.path().toString());
        if (one != null && other != null && one.isSame(other)) {
            throw new IOException(fast.path() + " and " + slow.path() + " are the same directory, so there would be "
                    + "no second copy; give two directories");
        }
    }

    /** As on the command line. */
    public String format() {
        return fast.name() + "=" + fast.path() + "," + SLOW + "=" + slow.path();
    }
}
