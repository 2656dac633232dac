package org.udckpt.launch;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.udckpt.linux.UnixPeer;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * The agent's end of udckpt-shepherd, which is the ranks' parent (protocol: docs/reference/control-protocol.md). The
 * shepherd inherits the standard streams of this process, and the ranks the shepherd's.
 */
public final class Shepherd implements AutoCloseable {
    private static final long START_MS = 10_000, END_MS = 10_000;
    private static final long ANSWER_S = 30;
    private static final String QUIT = "quit";
    private static final String CLOCK_LATER = "0"; // see clock()

    private final Path program;
    private final ShepherdProcess process;
    private final SocketChannel channel;
    private final ShepherdListener listener;
    private final BlockingQueue<String> answers = new ArrayBlockingQueue<>(16);
    private volatile boolean closing;
    private volatile boolean ready;

    private Shepherd(Path program, ShepherdProcess process, SocketChannel channel, boolean ready,
            ShepherdListener listener) {
        this.program = program;
        this.process = process;
        this.channel = channel;
        this.ready = ready;
        this.listener = listener;
        Thread.ofPlatform().daemon().name("shepherd-reader").start(this::read);
    }

    /** Starts it for the first incarnation of a job. */
    public static Shepherd start(Path program, Path socket, ShepherdListener listener) {
        return start(List.of(program.toString(), socket.toString()), UnaryOperator.identity(), socket, true, listener);
    }

    /**
     * Starts it as pid 1 of fresh namespaces.
     *
     * @param named the runtime directory that the job's environment names; whoever looks for it finds this socket's
     *     instead
     * @param streams sets the job's standard streams; those that it leaves are this process's
     * @throws Failure with the reason, when this system does not let it have these namespaces
     */
    public static Shepherd startRestoring(Path program, Path socket, String named,
            UnaryOperator<ProcessBuilder> streams, ShepherdListener listener) {
        List<String> command = List.of(program.toString(), socket.toString(), "--restore", CLOCK_LATER, named);
        Shepherd shepherd = start(command, streams, socket, false, listener);
        try {
            shepherd.awaitReady();
            return shepherd;
        } catch (RuntimeException e) {
            shepherd.close();
            throw e;
        }
    }

    private static Shepherd start(List<String> command, UnaryOperator<ProcessBuilder> streams, Path socket,
            boolean ready, ShepherdListener listener) {
        ShepherdProcess process;
        try {
            process = ShepherdProcess.start(streams.apply(new ProcessBuilder(new ArrayList<>(command)).inheritIO()));
        } catch (IOException e) {
            throw Failure.of("starting " + command.getFirst(), e);
        }
        try {
            return new Shepherd(Path.of(command.getFirst()), process, connect(process, socket), ready, listener);
        } catch (RuntimeException e) {
            process.kill();
            throw e;
        }
    }

    private static SocketChannel connect(ShepherdProcess process, Path socket) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_MS);
        while (true) {
            if (Files.exists(socket)) {
                try {
                    return UnixPeer.connect(socket);
                } catch (UnixPeer.Stranger e) {
                    throw new Failure(ExitCode.PERMISSION, "udckpt-shepherd: " + e.getMessage(), e);
                } catch (IOException e) {
                    Messages.debugTrace("shepherd not listening yet", e); // between its bind and its listen
                }
            }
            if (!process.alive()) {
                throw new Failure(ExitCode.of(process.code()), "udckpt-shepherd ended with code " + process.code()
                        + " before the job started; see its message above");
            }
            if (System.nanoTime() > deadline) {
                throw new Failure(ExitCode.TIMEOUT,
                        "udckpt-shepherd did not listen on " + socket + " within " + START_MS / 1000 + " s");
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.INTERNAL, "interrupted while the shepherd started", e);
        }
    }

    /** The program that it runs. */
    public Path program() {
        return program;
    }

    public long pid() {
        return process.pid();
    }

    /** Starts a rank; returns its pid in the agent's namespace. */
    public synchronized int spawn(int rank, Path specification) {
        String answer = ask("spawn " + rank + " " + specification, "rank " + rank);
        return number(answer, "spawned " + rank + " ");
    }

    /**
     * With restore, before any process: this is added to CLOCK_MONOTONIC and CLOCK_BOOTTIME inside, so that time goes
     * on for the job.
     *
     * @throws Failure with the reason, when the kernel does not let it
     */
    public synchronized void clock(long offsetNs) {
        number(ask("clock " + offsetNs, "the job's clock"), "clock ");
    }

    /** With restore: what is made next in the job's namespace gets the pid after this one, if it is free. */
    public synchronized void last(int pid) {
        number(ask("last " + pid, "a thread's number"), "last ");
    }

    /**
     * With restore, before any stub: it goes on as the process with this pid inside; returns the pid that it has then,
     * which is 1 where that one cannot be had.
     */
    public synchronized int parent(int pid) {
        return number(ask("parent " + pid, "the job's parent"), "parent " + pid + " ");
    }

    /** With restore: a paused process that has this pid inside; returns its pid outside. */
    public synchronized int stub(int pid) {
        return number(ask("stub " + pid, "process " + pid), "stub " + pid + " ");
    }

    /** With restore: a child of its that another stub has made, by both its pids; a stub as well from here on. */
    public synchronized void adopt(int pid, int hostPid) {
        number(ask("adopt " + pid + " " + hostPid, "process " + pid), "adopt " + pid + " ");
    }

    /** With restore: a new PMI connection for a rank; returns the number of its descriptor in the shepherd. */
    public synchronized int pmi(int rank, Path pmiSocket) {
        return number(ask("pmi " + rank + " " + pmiSocket, "rank " + rank), "pmi " + rank + " ");
    }

    /**
     * With restore: the agent's end of a socket over which both hold what fills memory; the number of its descriptor in
     * the shepherd.
     */
    public synchronized int lazy() {
        return number(ask("lazy", "missing memory"), "lazy ");
    }

    /** With restore: the rank has this descriptor of the shepherd's, which closes its own. */
    public void taken(int descriptor) {
        tell("taken " + descriptor);
    }

    /** With restore: the stubs are ranks from here on. */
    public void go() {
        tell("go");
    }

    /**
     * With restore: whether processes of the job are in a stop of this process's making, which it is to end if this
     * process ends.
     */
    public void standing(boolean some) {
        tell("standing " + (some ? 1 : 0));
    }

    /** Ranks end with their agent: others of the job are elsewhere, which only it hears of. */
    public void bound() {
        tell("bound");
    }

    /** To every root process (and to its process group, if it leads one). */
    public void signalAll(int signal) {
        tell("signal " + signal);
    }

    /** This orphan is a snapshot: to be reaped without a word. */
    public void expect(int hostPid) {
        tell("expect " + hostPid);
    }

    private void awaitReady() {
        try {
            answer("set-up of namespaces", "restore");
        } catch (Failure e) {
            throw closing ? new Failure(ExitCode.UNSUPPORTED, e.getMessage()) : e;
        }
    }

    private String ask(String command, String who) {
        answers.clear();
        tell(command);
        return answer(command, who);
    }

    private String answer(String command, String who) {
        try {
            String answer = answers.poll(ANSWER_S, TimeUnit.SECONDS);
            if (answer == null) {
                throw new Failure(ExitCode.TIMEOUT,
                        "the shepherd did not answer '" + command + "' within " + ANSWER_S + " s");
            }
            if (answer.startsWith("error ")) {
                throw new Failure(errorCode(answer), answer.substring("error ".length()));
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.INTERNAL, "interrupted while the shepherd handled " + who, e);
        }
    }

    private static ExitCode errorCode(String answer) {
        return answer.contains("namespace") || answer.contains("unshare") || answer.contains("not permitted")
                ? ExitCode.UNSUPPORTED : ExitCode.IO;
    }

    private static int number(String answer, String prefix) {
        if (!answer.startsWith(prefix)) {
            throw new Failure(ExitCode.INTERNAL, "the shepherd answered '" + answer + "' instead of '" + prefix + "N'");
        }
        return Integer.parseInt(answer.substring(prefix.length()).strip());
    }

    private void tell(String command) {
        if (closing && !command.equals(QUIT)) {
            return; // it is ending everything already
        }
        ByteBuffer line = ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.UTF_8));
        synchronized (channel) {
            try {
                while (line.hasRemaining()) {
                    channel.write(line);
                }
            } catch (IOException e) {
                throw Failure.of("sending to the shepherd (process " + process.pid() + ") '" + command + "'", e);
            }
        }
    }

    private void read() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                dispatch(line);
            }
        } catch (ClosedChannelException e) {
            return; // close() was called
        } catch (IOException e) {
            Messages.debugTrace("shepherd connection", e); // its death is reported just below
        }
        if (!closing) {
            listener.shepherdLost();
        }
        try {
            process.await(END_MS); // and is no zombie that others take for alive
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void dispatch(String line) {
        String[] words = line.split(" ");
        if (words[0].equals("exited")) {
            listener.exited(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            return;
        }
        if (!ready) {
            ready = true;
            closing = line.startsWith("error "); // its last words: that it ends now is no second error
        }
        if (!answers.offer(line) || line.startsWith("error signal")) {
            Messages.warn("shepherd: " + line);
        }
    }

    /** Ends it, and what is left of the ranks. */
    @Override
    public void close() {
        closing = true;
        try {
            if (process.alive()) {
                tell(QUIT);
            }
            if (!process.await(END_MS)) {
                Messages.warn("the shepherd (process " + process.pid() + ") did not end within 10 s: killing it");
                process.kill();
            }
        } catch (Failure e) {
            Messages.debugTrace("shepherd had ended already", e);
        } catch (InterruptedException e) {
            process.kill();
            Thread.currentThread().interrupt();
        } finally {
            try {
                channel.close();
            } catch (IOException e) {
                Messages.debugTrace("closing the shepherd's connection", e);
            }
        }
    }
}
