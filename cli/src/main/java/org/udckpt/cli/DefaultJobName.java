package org.udckpt.cli;

import java.nio.file.Path;

/** Name of a job that was started without {@code --name}. */
final class DefaultJobName {
    private DefaultJobName() {}

    /** The program's name and this process's pid, so that jobs of one program do not meet. */
    static String fresh(Path program) {
        String base =
                program.getFileName().toString().replaceAll("[^A-Za-z0-9._-]", "_").replaceAll("^[^A-Za-z0-9]+", "");
        return (base.isEmpty() ? "job" : base.substring(0, Math.min(40, base.length()))) + "-"
                + ProcessHandle.current().pid();
    }
}
