package org.udckpt.system;

import org.udckpt.agent.command.CommandClient;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.RuntimeDirectory;

/** Asks a job's agent for one checkpoint after the other until the agent is gone. */
final class CheckpointLoop implements Runnable, AutoCloseable {
    private final RuntimeDirectory runtime;
    private final ProcessHandle agent;
    private final Thread thread;
    private volatile int taken;
    private volatile Failure failure;

    /** Starts asking. */
    CheckpointLoop(RuntimeDirectory runtime, ProcessHandle agent) {
        this.runtime = runtime;
        this.agent = agent;
        this.thread = Thread.ofPlatform().daemon().name("checkpoints").start(this);
    }

    @Override
    public void run() {
        try {
            awaitListener();
            while (true) {
                try (CommandClient client = CommandClient.connect(runtime)) {
                    client.ask(client.request("checkpoint").put("kill", false).put("wait", true), event -> {});
                    taken++;
                }
            }
        } catch (Failure e) {
            failure = e;
        } catch (InterruptedException e) {
            failure = Failure.of("waiting for " + runtime.commandSocket(), e);
        }
    }

    /** The socket has its name a moment before the agent listens on it. */
    private void awaitListener() throws InterruptedException {
        for (int round = 0;; round++) {
            try (CommandClient client = CommandClient.connect(runtime)) {
                return;
            } catch (Failure e) {
                if (round == 250 || !agent.isAlive()) {
                    throw e;
                }
                Thread.sleep(20);
            }
        }
    }

    int taken() {
        return taken;
    }

    /** What ended the loop while the agent still lived, or null. Only the death of the agent may end it. */
    Failure earlyEnd() {
        return agent.isAlive() ? failure : null;
    }

    /** Waits for the end that the agent's death brings. */
    @Override
    public void close() throws InterruptedException {
        thread.join(10_000);
        if (thread.isAlive()) {
            throw new AssertionError("a checkpoint command did not notice that the agent is dead");
        }
    }
}
