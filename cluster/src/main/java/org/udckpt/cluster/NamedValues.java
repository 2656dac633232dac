package org.udckpt.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.udckpt.coordination.lookup.KeyCache;
import org.udckpt.coordination.lookup.MessageCounts;
import org.udckpt.coordination.lookup.TableCache;
import org.udckpt.coordination.lookup.TableResolver;

/**
 * One node's side of a table of values by name that all nodes of the job share. Entries go up at once, and no part is
 * taken in EXCHANGE. Of the node's thread.
 */
final class NamedValues implements TableResolver.Local {
    private record Question(Set<String> keys, CompletableFuture<Map<String, String>> answer) {}

    private final KeyCache cache;
    private final TableResolver exchange;
    private final Consumer<String> contradicted;
    /** By the exchange's number. */
    private final Map<Integer, Question> questions = new HashMap<>();
    /** The question that is being asked at this moment: its answer may come before its number. */
    private Question asking;

    /**
     * Before the node's first message; {@link #complete} follows.
     *
     * @param what         a key is called in messages
     * @param join         makes the node's part of the exchange
     * @param contradicted is told, in words, of keys that were put with two values
     */
    NamedValues(String what, BiFunction<TableCache, TableResolver.Local, TableResolver> join,
            Consumer<String> contradicted) {
        this.cache = new KeyCache(what);
        this.exchange = join.apply(cache, this);
        this.contradicted = contradicted;
    }

    /** Completes the table: this node has nothing to gather. */
    void complete(long now) {
        exchange.complete(now);
    }

    MessageCounts traffic() {
        return exchange.traffic();
    }

    void put(Map<String, String> pairs, long now) {
        for (byte[] entries : KeyCache.entries(pairs)) {
            try {
                exchange.register(entries, now);
            } catch (IllegalArgumentException e) {
                contradicted.accept(e.getMessage());
            }
        }
    }

    /** @param answer is given those of the keys that the job has */
    void get(Set<String> keys, CompletableFuture<Map<String, String>> answer, long now) {
        asking = new Question(keys, answer);
        int number = exchange.ask(keys.stream().mapToLong(KeyCache::number).toArray(), now);
        if (asking != null) {
            questions.put(number, asking);
            asking = null;
        }
    }

    @Override
    public void begin(long now) {
        throw new IllegalStateException(
                "values by name take no part in EXCHANGE: a restored node puts its own when it is joined");
    }

    @Override
    public void answered(int number, long[] absent, long now) {
        Question question = questions.remove(number);
        if (question == null) {
            question = asking;
            asking = null;
        }
        Map<String, String> values = new HashMap<>();
        for (String key : question.keys) {
            String value = cache.get(key);
            if (value != null) {
                values.put(key, value);
            }
        }
        question.answer.complete(values);
    }

    @Override
    public void refused(String why, long now) {
        contradicted.accept(why);
    }
}
