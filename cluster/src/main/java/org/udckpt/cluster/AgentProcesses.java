package org.udckpt.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * The processes on this machine that start the agents and pass their streams on, until they end. Standard output and
 * error are this process's own: nothing stands between that could lose a line.
 */
final class AgentProcesses implements AutoCloseable {
    /** In a thread of its own, one process at a time or several. */
    interface Listener {
        void ended(StartCommand command, int code);
    }

    /** For an agent that was told to end and one that ends with its lead; generous where a disk is slow. */
    private static final Duration OWN_END = Duration.ofSeconds(20), ASKED_END = Duration.ofSeconds(5),
            KILLED_END = Duration.ofSeconds(5);

    private record Started(StartCommand command, Process process) {}

    private final List<Started> started = new ArrayList<>();
    private final StandardInput input;

    /** @param input what follows the specification, for the agent that has rank 0 */
    AgentProcesses(StandardInput input) {
        this.input = input;
    }

    /**
     * Starts them all, in a session of their own: what a terminal's keys send is for the lead, which tells the agents.
     *
     * @param specification what each agent reads first
     * @throws Failure if one cannot be executed; those before run
     */
    void start(List<StartCommand> commands, byte[] specification, Listener listener) {
        for (StartCommand command : commands) {
            List<String> words = new ArrayList<>(List.of("setsid"));
            words.addAll(command.words());
            try {
                Process process = new ProcessBuilder(words).redirectOutput(ProcessBuilder.Redirect.INHERIT)
                        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
                started.add(new Started(command, process));
                Thread.ofPlatform().daemon().name("input of " + command.agents()).start(
                        // a write to a pipe holds its thread
                        () -> say(command, process.getOutputStream(), specification));
                process.onExit().thenAccept(ended -> listener.ended(command, ended.exitValue()));
            } catch (IOException e) {
                throw Failure.of("starting " + command.agents(), e);
            }
        }
    }

    private void say(StartCommand command, OutputStream out, byte[] specification) {
        try {
            out.write(specification);
            out.flush();
        } catch (IOException e) {
            // its end says more, or its silence
            Messages.debugTrace(command.agents() + " has not read its specification", e);
            return; // and standard input is another incarnation's by now, perhaps
        }
        try {
            if (command.isOfOne() && command.units().getFirst() == 0) {
                input.to(out);
            } else {
                out.close();
            }
        } catch (IOException e) {
            Messages.debugTrace("closing an agent's standard input", e); // it has ended
        }
    }

    /** Waits for those that were told to end, and ends those that do not. */
    @Override
    public void close() {
        end(System.nanoTime() + OWN_END.toNanos());
    }

    /** The same without waiting first: they were not told, or cannot be. */
    void end() {
        end(System.nanoTime());
    }

    private void end(long until) {
        boolean interrupted = false;
        try {
            List<Started> left = running(until);
            if (!left.isEmpty()) {
                left.forEach(each -> Messages.debugTrace("ending " + each.command().agents(),
                        new IllegalStateException("it has not ended by itself")));
                left.forEach(each -> each.process().destroy());
                left = running(System.nanoTime() + ASKED_END.toNanos());
            }
            for (Started each : left) {
                Messages.warn(each.command().agents() + " did not end on request and is killed: "
                        + each.command().shown());
                each.process().destroyForcibly();
            }
            if (!left.isEmpty()) {
                running(System.nanoTime() + KILLED_END.toNanos()).forEach(each ->
                // in a call of the kernel that nothing ends, such as to a file server that is gone
                Messages.warn(
                        each.command().agents() + " was killed and is still there (process " + each.process().pid()
                                + "): its host or a file system may hang; not waiting for it"));
            }
        } catch (InterruptedException e) {
            interrupted = true;
            started.forEach(each -> each.process().destroyForcibly());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The processes that still run when the time is over. */
    private List<Started> running(long until) throws InterruptedException {
        List<Started> running = new ArrayList<>();
        for (Started each : started) {
            if (!each.process().waitFor(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                running.add(each);
            }
        }
        return running;
    }
}
