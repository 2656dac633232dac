package org.udckpt.store;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The one row of the table {@code job}: what the agent knows about a job beyond its processes.
 *
 * @param hosts in the form of --hosts
 * @param command program and arguments, each ended by a NUL byte
 * @param generation incarnation that the checkpoint was taken in, 0 for the first
 * @param pmiName name of PMI's key-value space
 * @param namedRuntime the runtime directory of the first incarnation, which the processes' environment names for ever
 */
public record JobRow(String name, String hosts, byte[] command, int generation, String pmiName, String namedRuntime) {
    public JobRow {
        Objects.requireNonNull(name, "no name");
        Objects.requireNonNull(hosts, "no hosts");
        Objects.requireNonNull(pmiName, "no key-value space");
        Objects.requireNonNull(namedRuntime, "no runtime directory");
        if (command == null || command.length == 0 || command[0] == 0 || command[command.length - 1] != 0) {
            throw new IllegalArgumentException("no command");
        }
    }

    /** Program and arguments. */
    public List<String> words() {
        return List.of(new String(command, StandardCharsets.UTF_8).split("\0"));
    }

    static byte[] command(List<String> words) {
        return (String.join("\0", words) + "\0").getBytes(StandardCharsets.UTF_8);
    }

    /** The program's file name. */
    public String program() {
        Path name = Path.of(words().getFirst()).getFileName();
        return name == null ? words().getFirst() : name.toString();
    }
}
