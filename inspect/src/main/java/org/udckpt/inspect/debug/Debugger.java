package org.udckpt.inspect.debug;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.udckpt.process.model.ProcessState;
import org.udckpt.store.ImageProcesses;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * gdb, and the processes that it has of a restarted job. In use: {@link #choose}, {@link #hold}, and, when the job has
 * ended, {@link #await}.
 */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class Debugger implements AutoCloseable {
    private static final long LOOK_MS = 10;
    private static final long END_SECONDS = 10;

    private final Selection selection;
    private final GdbCommand command;
    private final Duration limit;
    /** And what each is called; from before the restore on. */
    private final Map<ProcessState, String> chosen = new LinkedHashMap<>();
    private volatile Process gdb;
    private volatile boolean ending;
    private volatile boolean expired;
    private Thread output;
    private Thread together;

    public Debugger(Selection selection, GdbCommand command) {
        this(selection, command, null);
    }

    /** @param limit after which gdb is ended, counted from its start; null: never */
    public Debugger(Selection selection, GdbCommand command, Duration limit) {
        this.selection = selection;
        this.command = command;
        this.limit = limit;
    }

    /** Which processes of the checkpoint it is to have; 66 when they are not there. Their pids. */
    public Set<Integer> choose(ImageProcesses processes) {
        selection.of(processes).forEach(process -> chosen.put(process, processes.name(process)));
        return chosen();
    }

    /** Pids, as the image has them. */
    public Set<Integer> chosen() {
        return chosen.keySet().stream().map(ProcessState::pid).collect(Collectors.toSet());
    }

    /**
     * Starts gdb, and returns when the first of its processes has run, be it for one instruction. They are in a
     * job-control stop, and nobody traces them.
     *
     * @param directory for its files, which go with it
     * @param hostPids pid in the image -> pid here
     */
    public void hold(Path directory, Map<Integer, Integer> hostPids) {
        List<Debuggee> debuggees = debuggees(hostPids);
        try {
            Path attached = directory.resolve("gdb-attached");
            Path go = directory.resolve("gdb-go");
            Path script = Files.writeString(directory.resolve("gdb-attach"),
                    new GdbScript(debuggees, attached, go).then(command.commands()).text());
            start(script);
            awaitAttached(debuggees, attached);
            if (command.interactive()) {
                Messages.info("in gdb, before the first instruction: " + names(debuggees)
                        + "; the whole job is stopped until 'continue'");
            }
            long[] before = debuggees.stream().mapToLong(Debuggee::ran).toArray();
            Files.createFile(go);
            awaitRelease(debuggees, before);
        } catch (IOException e) {
            throw Failure.of("starting gdb", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.INTERNAL, "interrupted while the job was in gdb", e);
        }
    }

    /**
     * From the release on: the job stands while one of the debugger's processes stands in it.
     *
     * @param hostPids pid in the image -> pid here, of all processes
     * @param standing hears whether others than the debugger's processes stand
     */
    public void keepTogether(Map<Integer, Integer> hostPids, Consumer<Boolean> standing) {
        GroupStop standstill =
                new GroupStop(debuggees(hostPids), Set.copyOf(hostPids.values()), () -> gdb.isAlive(), standing);
        together = Thread.ofPlatform().daemon().name("standstill").start(standstill::watch);
    }

    private List<Debuggee> debuggees(Map<Integer, Integer> hostPids) {
        return chosen.entrySet().stream().map(
                process -> new Debuggee(process.getKey(), process.getValue(), hostPids.get(process.getKey().pid())))
                .toList();
    }

    private void start(Path script) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command.words(script));
        builder.environment().remove("LD_PRELOAD");
        builder.environment().remove("LC_ALL"); // ours, see scripts/java.sh
        String own = builder.environment().remove("UDCKPT_LC_ALL");
        if (own != null) {
            builder.environment().put("LC_ALL", own);
        }
        if (command.interactive()) {
            File terminal = ControllingTerminal.DEVICE.toFile();
            builder.redirectInput(terminal).redirectOutput(terminal).redirectError(terminal);
        } else {
            builder.redirectInput(new File("/dev/null")).redirectErrorStream(true);
        }
        gdb = builder.start();
        if (limit != null) {
            Process started = gdb;
            CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS).execute(() -> end(started));
        }
        if (!command.interactive()) {
            output = Thread.ofPlatform().daemon().name("gdb-output").start(() -> copy(command.output()));
        }
    }

    private void copy(OutputStream to) {
        try {
            gdb.getInputStream().transferTo(to);
            to.flush();
        } catch (IOException e) {
            if (!ending) { // its end closes the stream
                Messages.warn("gdb's output is lost: " + e.getMessage());
            }
        }
    }

    private static String names(List<Debuggee> debuggees) {
        return debuggees.stream().map(Debuggee::name).collect(Collectors.joining(", and "));
    }

    private void awaitAttached(List<Debuggee> debuggees, Path attached) throws InterruptedException {
        while (!Files.exists(attached)) {
            if (gdb.waitFor(LOOK_MS, TimeUnit.MILLISECONDS) && !Files.exists(attached)) {
                throw new Failure(ExitCode.IO, "gdb (" + command.program() + ") ended with code " + gdb.exitValue()
                        + " before it attached to " + names(debuggees) + "; see its output above");
            }
        }
    }

    /** Any of them: the others of the job are what it will soon wait for. */
    private void awaitRelease(List<Debuggee> debuggees, long[] before) throws InterruptedException {
        while (true) {
            for (int i = 0; i < before.length; i++) {
                Debuggee debuggee = debuggees.get(i);
                boolean moved = debuggee.ran() != before[i]; // as who is being killed has, too
                if (debuggee.killed()) {
                    throw new Failure(ExitCode.BUSY, debuggee.name() + " was killed in the debugger before the job "
                            + "continued: the job cannot run without it");
                }
                if (moved) {
                    return;
                }
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private void end(Process started) {
        if (started.isAlive()) {
            expired = true;
            ending = true;
            started.destroy();
            CompletableFuture.delayedExecutor(END_SECONDS, TimeUnit.SECONDS).execute(started::destroyForcibly);
        }
    }

    /** Whether it was ended since its time was up. */
    public boolean expired() {
        return expired;
    }

    /** Whether a person uses it, on the terminal. */
    public boolean interactive() {
        return command.interactive();
    }

    /** Whether it has the terminal at this moment, and with it the keys that make signals. */
    public boolean hasTerminal() {
        Process now = gdb;
        return command.interactive() && now != null && now.isAlive();
    }

    /** Waits for its end, as its user or its script wills; its code. */
    public int await() throws InterruptedException {
        if (gdb == null) {
            return 0;
        }
        int code = gdb.waitFor();
        if (output != null) {
            output.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
        }
        return code;
    }

    /** Ends it; a process that it has goes on. */
    @Override
    public void close() throws InterruptedException {
        if (gdb != null && gdb.isAlive()) {
            ending = true;
            gdb.destroy();
            if (!gdb.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                gdb.destroyForcibly().waitFor();
            }
        }
        if (together != null) {
            together.join();
        }
    }
}
