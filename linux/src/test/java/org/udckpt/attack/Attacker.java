package org.udckpt.attack;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A program of {@code linux/src/test/c} that the stranger runs; it ends when it is closed. */
public final class Attacker implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;
    private final String first;

    private Attacker(Process process) throws IOException {
        this.process = process;
        this.output = process.inputReader();
        this.first = output.readLine();
    }

    /** Returns once it has said that it is at work. */
    public static Attacker start(String... command) throws IOException {
        return new Attacker(OrdinaryUser.STRANGER.start(command));
    }

    /** What it said first. */
    public String said() {
        return first;
    }

    /** Has it end. @return what it says last, a number: how often it did what it does */
    public long end() throws IOException, InterruptedException {
        process.outputWriter().close();
        String last = output.readLine();
        if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0 || last == null) {
            throw new IOException("the attacker failed: " + process + " said " + last);
        }
        return Long.parseLong(last);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
