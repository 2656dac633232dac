package org.udckpt.cluster;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.udckpt.support.report.Messages;

/**
 * What the nodes of a job tell each other by name, in one incarnation: which host has a GID, and ranks' remote keys.
 * Any thread.
 */
final class NodeFacts {
    static final String WHAT = "fact";
    // the tree needs milliseconds; and longer when a node on the way is lost
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final long PAUSE_MS = 50;
    /** A stranger's datagrams, each of which names an unknown GID, must not hold up who receives them. */
    private static final long ABSENT_NS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_ABSENT = 1000;

    private final NodeThread thread;
    private final NamedValues values;
    /** Names, and when they were found to be nobody's. */
    private final Map<String, Long> absent = new ConcurrentHashMap<>();

    /** Before the node's first message. */
    NodeFacts(NodeHandle node) {
        this.thread = node.thread();
        this.values = new NamedValues(WHAT, node.part()::facts, why -> Messages.error(why, null));
        thread.execute(values::complete);
    }

    void put(Map<String, String> facts) {
        if (!facts.isEmpty()) {
            thread.execute(now -> values.put(facts, now));
        }
    }

    /**
     * What nobody has may be on its way, and is asked for again for a while.
     *
     * @return empty if no node has told it
     * @throws IllegalStateException if the other nodes have not answered in time
     */
    Optional<String> get(String name, Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        Optional<String> found = ask(name);
        try {
            while (found.isEmpty() && System.nanoTime() < end) {
                Thread.sleep(PAUSE_MS);
                found = ask(name);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the other nodes were asked for '" + name + "'", e);
        }
        return found;
    }

    /**
     * The same for a name that strangers may bring here: one that nobody has is not asked for again within a second.
     */
    Optional<String> getOfStrangers(String name, Duration timeout) {
        Long since = absent.get(name);
        if (since != null && System.nanoTime() - since < ABSENT_NS) {
            return Optional.empty();
        }
        Optional<String> found = get(name, timeout);
        if (found.isEmpty()) {
            if (absent.size() >= MOST_ABSENT) {
                absent.clear();
            }
            absent.put(name, System.nanoTime());
        }
        return found;
    }

    /**
     * Asks for many in one go, so that each of them is known here afterwards. Of the node's thread.
     *
     * @param done runs there when they are, or at once
     */
    void fetch(Set<String> names, Runnable done, long now) {
        CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
        answer.thenRun(done);
        if (names.isEmpty()) {
            answer.complete(new HashMap<>());
        } else {
            values.get(names, answer, now);
        }
    }

    /** @throws IllegalStateException naming a fact that is not the number which it has to be; up to 2^32 - 1 */
    static int number(String name, String value) {
        try {
            return Integer.parseUnsignedInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalStateException("'" + name + "' has the value '" + value + "', which is not a number", e);
        }
    }

    private Optional<String> ask(String name) {
        CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
        thread.execute(now -> values.get(Set.of(name), answer, now));
        try {
            return Optional.ofNullable(answer.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS).get(name));
        } catch (TimeoutException e) {
            throw new IllegalStateException("'" + name + "' was not received from the other nodes within "
                    + TIMEOUT.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the other nodes were asked for '" + name + "'", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("looking up '" + name + "' on the other nodes", e.getCause());
        }
    }
}
