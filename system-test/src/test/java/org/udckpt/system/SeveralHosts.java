package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.hosts.HostLab;
import org.udckpt.system.cli.ScriptedJava;

/**
 * Network namespaces as hosts, and udckpt commands on the first of them: the lead is there, agents anywhere. Kept when
 * the test fails.
 */
final class SeveralHosts implements AutoCloseable {
    private static final String STARTER = "ip netns exec {host}";

    final Path directory;
    final HostLab lab;
    private final Path udckpt, brake;
    private final List<Process> started = new ArrayList<>();
    /** Of all commands from now on, besides what they have anyway. */
    final Map<String, String> environment = new TreeMap<>();
    private boolean good;

    SeveralHosts(int hosts) throws IOException {
        directory = Files.createTempDirectory("udckpt-h");
        lab = new HostLab(hosts, directory);
        udckpt = script("agent", "-Xmx256m");
        brake = directory.resolve("brake");
        if (hosts == 1) {
            environment.put("UDCKPT_LEASE", "20s"); // none can be lost, and agents may get no processor for seconds
        }
    }

    /** A udckpt of the classes under test, for starters. */
    private Path script(String verb, String... options) throws IOException {
        List<String> words = ScriptedJava.command(verb);
        words.addAll(List.of(options));
        words.addAll(List.of("-Dudckpt.native=" + System.getProperty("udckpt.native"), "org.udckpt.cli.Main"));
        String quoted = words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
        Path file = Files.writeString(directory.resolve("udckpt"), "#!/bin/sh\nexec " + quoted + " \"$@\"\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    /**
     * A directory that agents on each host find its own disk at; who looks from outside, or leads, finds another one
     * there.
     */
    Path disks() throws IOException {
        Path disk = Files.createDirectories(directory.resolve("disk"));
        Path file = Files.writeString(directory.resolve("on-disk"), """
                #!/bin/sh
                host=$(ip netns identify $$) && mount --bind '%s/host'"${host##*-}" '%s' && exec '%s' "$@"
                """.formatted(directory, disk, udckpt));
        environment.put("UDCKPT_REMOTE",
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------")).toString());
        return disk;
    }

    /**
     * A solver, and the words before it. While it is held it lasts for two minutes and a half and sleeps for most of
     * them, so that what happens around it has the processors; released, it is at its end in seconds.
     */
    List<String> solver(String program) {
        return List.of("--", CommandLine.artifact(program).toString(), "--grid", "8", "--iterations", "10", "--solves",
                "300",
                "--ballast", "2", "--brake", brake.toString(), "--late", "500");
    }

    /** Solvers from now on. */
    void hold() throws IOException {
        Files.createFile(brake);
    }

    void release() throws IOException {
        Files.delete(brake);
    }

    /** {@code a:2,b:2} of these hosts, for {@code --hosts}. */
    String hosts(int ranks, int... numbers) {
        return IntStream.of(numbers).mapToObj(number -> lab.host(number).namespace() + (ranks == 0 ? "" : ":" + ranks))
                .collect(Collectors.joining(","));
    }

    /** A udckpt command on host 1 that says nothing of starters. Its streams go to NAME.out and NAME.err. */
    Process command(String name, String... arguments) throws IOException {
        List<String> words = ScriptedJava.command(arguments[0]);
        words.addAll(
                List.of("-Xmx512m", "-Dudckpt.native=" + System.getProperty("udckpt.native"), "org.udckpt.cli.Main"));
        words.addAll(List.of(arguments));
        ProcessBuilder builder = lab.host(1).command(words);
        builder.directory(directory.toFile());
        builder.environment().put("UDCKPT_RUNTIME", directory.resolve("run").toString());
        builder.environment().put("UDCKPT_REMOTE", udckpt.toString());
        builder.environment().put("UDCKPT_SOFT_NET", HostLab.NET);
        // who is lost is to be found soon, on a machine where many processes want two processors
        builder.environment().put("UDCKPT_LEASE", "4s");
        builder.environment().putAll(environment);
        Process process = builder.redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".out").toFile()))
                .redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".err").toFile())).start();
        started.add(process);
        return process;
    }

    /** {@code run} or {@code restart} on several hosts; the lead is on host 1. */
    Process several(String name, String verb, String... arguments) throws IOException {
        List<String> words =
                new ArrayList<>(List.of(verb, "--starter", STARTER, "--lead-address", lab.host(1).address()));
        words.addAll(List.of(arguments));
        return command(name, words.toArray(String[]::new));
    }

    int run(String name, int seconds, String... arguments) throws Exception {
        return end(name, command(name, arguments), seconds);
    }

    int end(String name, Process process, int seconds) throws Exception {
        assertTrue(process.waitFor(seconds, TimeUnit.SECONDS),
                () -> name + " did not end in " + seconds + " s\n" + text(name));
        return process.exitValue();
    }

    void assertEnds(int code, String name, Process process, int seconds) throws Exception {
        assertEquals(code, end(name, process, seconds), () -> text(name));
    }

    String output(String name) throws IOException {
        return Files.readString(directory.resolve(name + ".out"));
    }

    String errors(String name) throws IOException {
        return Files.readString(directory.resolve(name + ".err"));
    }

    List<String> lines(String name) throws IOException {
        return output(name).lines().toList();
    }

    /** Both streams, for messages. */
    String text(String name) {
        try {
            return name + ".out: " + output(name) + "\n" + name + ".err: " + errors(name) + "\n(" + directory + ")";
        } catch (IOException e) {
            return e.toString();
        }
    }

    void await(String what, String name, RunningJob.Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end, () -> what + " did not come\n" + text(name));
            Thread.sleep(20);
        }
    }

    /** The power fails on these hosts. */
    void crash(int... numbers) throws IOException {
        for (int number : numbers) {
            lab.host(number).crash();
        }
    }

    /** Names of the programs that run on a host. */
    Set<String> programs(int number) throws IOException {
        return processes(number).values().stream().collect(Collectors.toSet());
    }

    /** The processes on a host that run a program of this name. */
    List<Long> pids(int number, String program) throws IOException {
        return processes(number).entrySet().stream().filter(process -> process.getValue().equals(program))
                .map(Map.Entry::getKey).toList();
    }

    /** Everything that runs on a host. */
    List<Long> allPids(int number) throws IOException {
        return List.copyOf(processes(number).keySet());
    }

    private Map<Long, String> processes(int number) throws IOException {
        Map<Long, String> names = new TreeMap<>();
        for (String pid : new String(new ProcessBuilder("ip", "netns", "pids", lab.host(number).namespace()).start()
                .getInputStream().readAllBytes()).lines().toList()) {
            try {
                names.put(Long.parseLong(pid), Files.readString(Path.of("/proc", pid, "comm")).strip());
            } catch (IOException gone) {
                continue; // it has ended meanwhile
            }
        }
        return names;
    }

    /** Nothing went wrong: nothing is kept. */
    void good() {
        good = true;
    }

    @Override
    public void close() throws Exception {
        started.forEach(Process::destroyForcibly);
        lab.close(); // with all that runs there
        if (good) {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }
}
