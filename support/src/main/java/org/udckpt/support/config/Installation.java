package org.udckpt.support.config;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Where the native parts are.
 *
 * @param library libudckpt.so, preloaded into every rank
 * @param shepherd the ranks' parent process
 * @param agentLibrary libudckpt-agent.so, for the agent's own JVM
 */
public record Installation(Path library, Path shepherd, Path agentLibrary, Path directory) {

    /** Looks where the settings say, else upwards from this class: the build tree, or lib/udckpt of a package. */
    public static Installation find(Settings settings) {
        String given = settings.text(Option.NATIVE).isEmpty() ? System.getProperty("udckpt.native", "")
                : settings.text(Option.NATIVE);
        Path directory = given.isEmpty() ? besideClasses() : Path.of(given).toAbsolutePath();
        Path library = directory.resolve("libudckpt.so");
        Path shepherd = directory.resolve("udckpt-shepherd");
        Path agentLibrary = directory.resolve("libudckpt-agent.so");
        for (Path file : new Path[]{library, shepherd, agentLibrary}) {
            if (!Files.isReadable(file)) {
                throw new Failure(ExitCode.UNSUPPORTED,
                        file + " is missing: build it with 'mvn package', or set UDCKPT_NATIVE to its directory");
            }
        }
        if (library.toString().matches(".*[ :].*")) {
            throw new Failure(ExitCode.UNSUPPORTED, "ranks cannot preload " + library
                    + ": LD_PRELOAD splits names at spaces and colons (ld.so(8)); install udckpt"
                    + " at another path, or set UDCKPT_NATIVE to a symbolic link to " + directory
                    + " without spaces and colons");
        }
        return new Installation(library, shepherd, agentLibrary, directory);
    }

    /** Starts the lead of a job on several hosts again. */
    public Path guard() {
        return directory.resolve("udckpt-guard");
    }

    /** Starts Open MPI ranks; built only where libpmix is. @throws Failure 69 where it is not */
    public Path pmixLauncher() {
        Path launcher = directory.resolve("udckpt-pmix");
        if (!Files.isExecutable(launcher)) {
            throw new Failure(ExitCode.UNSUPPORTED, launcher + ", which starts ranks for --mpi pmix, is missing: "
                    + "install libpmix's headers (Debian: libpmix-dev); then the next command in a source tree "
                    + "builds it, and 'udckpt install' installs it");
        }
        return launcher;
    }

    private static Path besideClasses() {
        Path start;
        try {
            start = Path.of(Installation.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e); // a class path entry is a valid URI
        }
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            for (String relative : new String[]{"native/target/cmake", "lib/udckpt"}) {
                Path candidate = folder.resolve(relative);
                if (Files.isDirectory(candidate)) {
                    return candidate;
                }
            }
        }
        throw new Failure(ExitCode.UNSUPPORTED, "no native/target/cmake or lib/udckpt above " + start
                + ": build with 'mvn package', or set UDCKPT_NATIVE");
    }
}
