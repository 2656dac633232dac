package org.udckpt.process.capture;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.feature.Leftovers;

/**
 * A program under test, with the library preloaded, in a scratch directory of its own. It is an orphan that this JVM
 * adopts as a subreaper: never a child that the JVM itself started, whose stops the JVM's reaper would steal.
 */
final class Target implements AutoCloseable {
    static final Path NATIVE = Path.of(System.getProperty("udckpt.native"));
    static final Path LIBRARY = NATIVE.resolve("libudckpt.so");
    static {
        MountThread.library(Path.of(System.getProperty("udckpt.native"), "libudckpt-agent.so"));
    }

    private static final Path SOURCES = Path.of(System.getProperty("udckpt.root"), "process-image/src/test/capture");
    private static final String SHEPHERD = "udckpt-shepherd";
    /** Starts program and arguments by a shell, and says with which pid. */
    private static final String START =
            "setsid env ${PRELOAD:+LD_PRELOAD=$PRELOAD} \"$0\" \"$@\" </dev/null >out 2>&1 & echo $!";
    private static final int PR_SET_CHILD_SUBREAPER = 36, SIGKILL = 9, READY_MS = 60_000, COMM_MOST = 15;

    final Path directory;
    final int pid;
    /** Its parent, with the name of the process that starts ranks; this JVM's pid: it has none. */
    final int shepherd;
    private final ProcessHandleFd handle;
    private final Path program;

    private Target(Path directory, Path program, int pid, int shepherd) {
        this.directory = directory;
        this.program = program;
        this.pid = pid;
        this.shepherd = shepherd;
        this.handle = new ProcessHandleFd(pid);
    }

    /** One of the feature programs of src/test/c, when it says that it is ready. */
    static Target feature(String name, Path library) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("capture-" + name);
        Target target = start(NATIVE.resolve("features").resolve(name), directory, library, directory.toString());
        target.await(directory.resolve("ready"), READY_MS);
        return target;
    }

    /** As {@link #feature}, started by a process that is called as the one that starts ranks. */
    static Target ofShepherd(String name) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("capture-" + name);
        Path shepherd = Files.createSymbolicLink(directory.resolve(SHEPHERD), Path.of("/bin/sh"));
        String program = NATIVE.resolve("features").resolve(name).toString();
        // Both pids at once: what comes after the shell's end is lost (the JVM's reaper).
        Process shell = builder(List.of("sh", "-c", "\"$SHEPHERD\" -c '" + START + " >pid.new; mv pid.new pid; "
                + "exec >&-; wait' \"$0\" \"$@\" & echo $!; until [ -e pid ]; do sleep 0.01; done; cat pid", program,
                directory.toString()), directory, LIBRARY, shepherd).start();
        BufferedReader lines = shell.inputReader(StandardCharsets.US_ASCII);
        int parent = Integer.parseInt(lines.readLine());
        int pid = Integer.parseInt(lines.readLine());
        shell.waitFor();
        Target target = new Target(directory, Path.of(program), pid, parent);
        target.await(directory.resolve("ready"), READY_MS);
        return target;
    }

    /**
     * One of the programs of src/test/capture; it makes the file ready in argv[1], and gets the arguments from argv[2]
     * on.
     */
    static Target own(String name, String... arguments) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("capture-" + name);
        Path program = directory.resolve(name);
        run(directory, List.of("gcc", "-O1", "-g", "-Wall", "-pthread", "-o", program.toString(),
                SOURCES.resolve(name + ".c").toString()));
        List<String> all = new ArrayList<>(List.of(directory.toString()));
        all.addAll(List.of(arguments));
        Target target = start(program, directory, LIBRARY, all.toArray(String[]::new));
        target.await(directory.resolve("ready"), READY_MS);
        return target;
    }

    /** A program whose dynamic linker stays at a library of src/test/capture, loaded after ours; it gets no further. */
    static Target linking(String name) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("capture-" + name);
        Path library = directory.resolve(name + ".so");
        run(directory, List.of("gcc", "-O1", "-g", "-Wall", "-shared", "-fPIC", "-o", library.toString(),
                SOURCES.resolve(name + ".c").toString()));
        Path program = Files.copy(Path.of("/bin/sleep"), directory.resolve(name));
        Target target = start(program, directory, Path.of(LIBRARY + ":" + library), "600");
        target.await(directory.resolve("ready"), READY_MS);
        return target;
    }

    private static Target start(Path program, Path directory, Path library, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", START, program.toString()));
        command.addAll(List.of(arguments));
        Process shell = builder(command, directory, library, null).start();
        int pid = Integer.parseInt(shell.inputReader(StandardCharsets.US_ASCII).readLine());
        shell.waitFor();
        return new Target(directory, program, pid, (int) ProcessHandle.current().pid());
    }

    private static ProcessBuilder builder(List<String> command, Path directory, Path library, Path shepherd) {
        LinuxError.check(Syscall.call(Syscall.PRCTL, PR_SET_CHILD_SUBREAPER, 1), "prctl");
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().remove("UDCKPT_RUNTIME_DIR");
        if (library != null) {
            builder.environment().put("PRELOAD", library.toString());
        }
        if (shepherd != null) {
            builder.environment().put("SHEPHERD", shepherd.toString());
        }
        return builder;
    }

    private static void run(Path directory, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(command + " failed: " + output);
        }
    }

    CaptureRequest request() {
        return new CaptureRequest(List.of(new CaptureRequest.Root(0, pid)), CaptureRequest.StandardStreams.NONE);
    }

    void await(Path file, long milliseconds) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + milliseconds * 1_000_000;
        while (!Files.exists(file)) {
            boolean over = System.nanoTime() > deadline || !alive();
            if (over && !Files.exists(file)) {
                String result =
                        Files.exists(directory.resolve("result")) ? Files.readString(directory.resolve("result")) : "";
                throw new AssertionError(program.getFileName() + ": no " + file.getFileName() + "; " + result
                        + Files.readString(directory.resolve("out"))
                        + (alive() ? Proc.text("/proc/" + pid + "/status") : " it has ended"));
            }
            Thread.sleep(2);
        }
    }

    /** Asks the program to finish; its verdict. */
    String verdict() throws IOException, InterruptedException {
        Files.createFile(directory.resolve("finish"));
        Path result = directory.resolve("result");
        await(result, READY_MS);
        for (int round = 0; round < READY_MS / 2 && Files.size(result) == 0; round++) {
            Thread.sleep(2); // some programs make the file first and write it then
        }
        return Files.readString(result).strip();
    }

    boolean alive() {
        try {
            // its main thread may have ended before others
            return !Proc.stat(pid)[0].equals("Z") || Proc.threads(pid).length > 1;
        } catch (LinuxError gone) {
            return false;
        }
    }

    /** Processes that run this target's program, ended ones not counted. */
    List<Integer> processes() {
        List<Integer> found = new ArrayList<>();
        for (int one : Proc.numbers("/proc")) {
            try {
                if (program.toString().equals(org.udckpt.linux.Files.readLink("/proc/" + one + "/exe"))) {
                    found.add(one);
                }
            } catch (LinuxError gone) {
                continue; // it ended in between, or is a kernel thread
            }
        }
        return found;
    }

    /** Processes that exist at three looks: some programs have children that end at once. */
    List<Integer> lasting() throws InterruptedException {
        List<Integer> found = processes();
        for (int look = 0; look < 2; look++) {
            Thread.sleep(50);
            found.retainAll(processes());
        }
        return found;
    }

    @Override
    public void close() throws IOException {
        for (int one : processes()) {
            Syscall.call(Syscall.KILL, one, SIGKILL);
        }
        handle.signal(SIGKILL);
        handle.close();
        if (shepherd == ProcessHandle.current().pid()) {
            Syscall.call(Syscall.WAIT4, pid, Scratch.data().address(), 0, 0);
        } else {
            Syscall.call(Syscall.WAIT4, shepherd, Scratch.data().address(), 0, 0); // it waits for its child
        }
        reapAdopted();
        Leftovers.removeQueues(pid);
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    /**
     * Orphans that this JVM adopted and that have ended: by their name, for a child that the JVM started is its own to
     * wait for.
     */
    void reapAdopted() {
        String name = program.getFileName().toString();
        String ended = "(" + name.substring(0, Math.min(name.length(), COMM_MOST)) + ") Z "
                + ProcessHandle.current().pid() + " ";
        for (int one : Proc.numbers("/proc")) {
            try {
                if (Proc.text("/proc/" + one + "/stat").contains(ended)) {
                    Syscall.call(Syscall.WAIT4, one, Scratch.data().address(), 1, 0);
                }
            } catch (LinuxError gone) {
                continue; // it ended in between
            }
        }
    }
}
