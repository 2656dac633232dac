package org.udckpt.job.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.process.restore.Relocation;

/** What {@code --map-path OLD=NEW} and {@code --directory} say. */
final class Moves {
    private Moves() {}

    /** @param directory null: none was given */
    static Relocation parse(List<String> texts, String directory) {
        return new Relocation(texts.stream().map(Moves::move).toList(), directory == null ? null : real("--directory", directory, directory));
    }

    private static Relocation.Move move(String text) {
        int equals = text.indexOf('=');
        String from = equals < 0 ? "" : text.substring(0, equals);
        if (!from.startsWith("/") || equals == text.length() - 1) {
            throw new Failure(ExitCode.USAGE, "--map-path: '" + text + "' is not OLD=NEW with OLD as an absolute path, as 'udckpt inspect' shows it");
        }
        // OLD need not be on this machine: it is taken as it is written. NEW is, and the kernel names it without links.
        return new Relocation.Move(Path.of(from).normalize().toString(), real("--map-path", text, text.substring(equals + 1)));
    }

    private static String real(String flag, String text, String path) {
        try {
            Path real = Path.of(path).toRealPath();
            if (!Files.isDirectory(real) && flag.equals("--directory")) {
                throw new Failure(ExitCode.USAGE, flag + ": " + path + " is not a directory");
            }
            return real.toString();
        } catch (IOException e) {
            throw new Failure(ExitCode.NOT_FOUND, flag + " " + text + ": there is no " + path, e);
        }
    }
}
