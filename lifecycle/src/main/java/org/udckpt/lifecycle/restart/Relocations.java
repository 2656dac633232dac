package org.udckpt.lifecycle.restart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.process.restore.Relocation;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Where a job's files are on this host, as the kernel names it: without symbolic links, which each host has its own of.
 */
public final class Relocations {
    private Relocations() {}

    /**
     * The same with the real paths of what is here.
     *
     * @param said absolute paths, as the user gave them
     * @throws Failure 66 naming what is not there, 64 where a directory is none
     */
    public static Relocation here(Relocation said) {
        return new Relocation(
                said.moves().stream()
                        .map(move -> new Relocation.Move(move.from(),
                                real("--map-path " + move.from() + "=" + move.to(), move.to())))
                        .toList(),
                said.directory() == null ? null : directory(said.directory()));
    }

    /**
     * The same for looking at another host's files from this one: what is not here keeps the name that it was given.
     */
    public static Relocation asSeenFromHere(Relocation said) {
        return new Relocation(
                said.moves().stream().map(move -> new Relocation.Move(move.from(), realOrSaid(move.to()))).toList(),
                said.directory() == null ? null : realOrSaid(said.directory()));
    }

    private static String directory(String path) {
        String real = real("--workdir " + path, path);
        if (!Files.isDirectory(Path.of(real))) {
            throw new Failure(ExitCode.USAGE, "--workdir: " + path + " is not a directory");
        }
        return real;
    }

    private static String realOrSaid(String path) {
        return Files.exists(Path.of(path)) ? real(path, path) : path;
    }

    private static String real(String flag, String path) {
        try {
            return Path.of(path).toRealPath().toString();
        } catch (IOException e) {
            throw new Failure(ExitCode.NOT_FOUND, flag + ": there is no " + path, e);
        }
    }
}
