package org.udckpt.cli;

import java.nio.file.Path;
import java.util.List;
import org.udckpt.process.restore.Relocation;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * What {@code --map-path OLD=NEW} and {@code --workdir} say; what of it is there is for each host to see
 * ({@link org.udckpt.lifecycle.restart.Relocations}).
 */
final class Moves {
    private Moves() {}

    /** @param directory null: none was given */
    static Relocation parse(List<String> texts, String directory) {
        return new Relocation(texts.stream().map(Moves::move).toList(), directory == null ? null : absolute(directory));
    }

    private static Relocation.Move move(String text) {
        int equals = text.indexOf('=');
        String from = equals < 0 ? "" : text.substring(0, equals);
        if (!from.startsWith("/") || equals == text.length() - 1) {
            throw new Failure(ExitCode.USAGE, "--map-path: '" + text
                    + "' is not OLD=NEW with OLD as an absolute path, as 'udckpt inspect' shows it");
        }
        // OLD need not be on any machine: it is taken as it is written.
        return new Relocation.Move(Path.of(from).normalize().toString(), absolute(text.substring(equals + 1)));
    }

    /** Not normalized: what ".." is depends on links. */
    private static String absolute(String path) {
        return Path.of(path).toAbsolutePath().toString();
    }
}
