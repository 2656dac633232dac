package org.udckpt.bench.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The lines of a stream of a running command, collected by a thread of its own. */
public final class Transcript {
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;
    private boolean ended;

    /** Reads {@code stream} to its end; {@code echo} sees each line as it comes. */
    public Transcript(String name, InputStream stream, Consumer<String> echo) {
        reader = Thread.ofPlatform().name("transcript of " + name).daemon().start(() -> read(stream, echo));
    }

    private void read(InputStream stream, Consumer<String> echo) {
        try (var in = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                echo.accept(line);
                add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            end();
        }
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** The lines so far. */
    public synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** All lines, once the stream has ended. */
    public List<String> allLines() throws InterruptedException {
        reader.join();
        return lines();
    }

    /** How many lines there are. */
    synchronized int size() {
        return lines.size();
    }

    /**
     * Waits until there are more lines than {@code before}, or the stream has ended, or {@code limit} has passed; false
     * in the last case.
     */
    synchronized boolean awaitMore(int before, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        for (long left; lines.size() <= before && !ended; wait(left)) {
            left = (deadline - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return false;
            }
        }
        return true;
    }

    /** As {@link #await}, for as long as lines come: {@code silence} is between two of them. */
    public synchronized boolean awaitWhileTalking(Predicate<String> wanted, int count, Duration silence)
            throws InterruptedException {
        while (!await(wanted, count, Duration.ZERO)) {
            if (ended || !awaitMore(lines.size(), silence)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Waits until {@code count} lines satisfy {@code wanted}.
     *
     * @return false when the stream ended or {@code limit} passed first
     */
    public synchronized boolean await(Predicate<String> wanted, int count, Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (lines.stream().filter(wanted).count() < count) {
            long left = (deadline - System.nanoTime()) / 1_000_000;
            if (ended || left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }
}
