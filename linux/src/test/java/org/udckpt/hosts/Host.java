package org.udckpt.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One host of a {@link HostLab}: a network namespace with one interface, {@code eth0}, and a directory that stands for
 * its local disk.
 *
 * @param number from 1
 * @param namespace its name for ip(8)
 * @param address its own, {@code NET.0.number}
 * @param lids the first of its 256 LIDs of the soft fabric, 256 * number; each is an address of this host. Not to be
 *     used: the first and the last
 * @param directory of its own
 */
public record Host(int number, String namespace, String address, int lids, Path directory) {
    /** A program that runs on this host; started and ended like any other process. */
    public ProcessBuilder command(List<String> command) {
        // ip execs: the process's pid is the program's
        List<String> words = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        words.addAll(command);
        return new ProcessBuilder(words).directory(directory.toFile());
    }

    public ProcessBuilder command(String... command) {
        return command(List.of(command));
    }

    /** A power failure: all its processes end, and its directory is empty. The namespace stays, as a machine does. */
    public void crash() throws IOException {
        Ip.killAll(namespace);
        List<Path> files;
        try (Stream<Path> all = Files.walk(directory)) {
            files = all.sorted(Comparator.reverseOrder()).filter(file -> !file.equals(directory)).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }
}
