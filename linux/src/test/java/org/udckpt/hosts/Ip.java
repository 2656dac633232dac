package org.udckpt.hosts;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** iproute2's commands: run to their end, and their words when they fail. */
public final class Ip {
    private Ip() {}

    /** @throws IllegalStateException with what the command says, when it fails */
    public static String run(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String words = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            if (process.waitFor() != 0) {
                throw new IllegalStateException(String.join(" ", command) + ": " + words);
            }
            return words;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Names of all network namespaces that ip(8) knows. */
    public static List<String> namespaces() {
        return run("ip", "netns", "list").lines().map(line -> line.split(" ")[0]).filter(name -> !name.isEmpty())
                .toList();
    }

    /** Kills all processes of a namespace, again until there are none. */
    static void killAll(String namespace) {
        for (String pids = run("ip", "netns", "pids", namespace); !pids.isEmpty();
                pids = run("ip", "netns", "pids", namespace)) {
            pids.lines().map(String::strip).map(Long::parseLong)
                    .forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            Thread.yield();
        }
    }

    static void remove(String namespace) {
        killAll(namespace);
        run("ip", "netns", "delete", namespace);
    }
}
