package org.udckpt.job.nodes;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.udckpt.job.report.Messages;

/** What the nodes of a job tell each other by name, in one life: which host has a GID, and ranks' remote keys. Any thread. */
final class NodeFacts {
    static final String WHAT = "fact";
    private static final Duration PATIENCE = Duration.ofSeconds(20); // the tree needs milliseconds; and longer when a node on the way is lost
    /** What nobody has may be on its way. */
    private static final int TRIES = 4;
    private static final long PAUSE_MS = 50;
    /** What nobody has is not asked for again in this time: a stranger's datagrams, each of which names an unknown GID, must not hold up who receives them. */
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

    /** @return empty if no node has told it, or not in time, which is said */
    Optional<String> get(String name) {
        Long since = absent.get(name);
        if (since != null && System.nanoTime() - since < ABSENT_NS) {
            return Optional.empty();
        }
        Optional<String> found = search(name);
        if (found.isEmpty()) {
            if (absent.size() >= MOST_ABSENT) {
                absent.clear();
            }
            absent.put(name, System.nanoTime());
        }
        return found;
    }

    private Optional<String> search(String name) {
        try {
            Optional<String> found = ask(name);
            for (int tries = 1; tries < TRIES && found.isEmpty(); tries++) {
                Thread.sleep(PAUSE_MS);
                found = ask(name);
            }
            return found;
        } catch (TimeoutException e) {
            Messages.error("'" + name + "' did not come from the other nodes within " + PATIENCE.toSeconds() + " s", e);
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("asking the other nodes for '" + name + "'", e.getCause());
        }
    }

    private Optional<String> ask(String name) throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
        thread.execute(now -> values.get(Set.of(name), answer, now));
        return Optional.ofNullable(answer.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS).get(name));
    }
}
