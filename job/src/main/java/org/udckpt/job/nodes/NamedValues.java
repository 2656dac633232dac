package org.udckpt.job.nodes;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.udckpt.job.exchange.Exchange;
import org.udckpt.job.exchange.KeyShelf;
import org.udckpt.job.exchange.Shelf;
import org.udckpt.job.exchange.Traffic;

/** One node's side of a table of values by name that all nodes of the job share. Entries go up at once, and no part is taken in EXCHANGE. Of the node's thread. */
final class NamedValues implements Exchange.Local {
    private record Question(Set<String> keys, CompletableFuture<Map<String, String>> answer) {}

    private final KeyShelf shelf;
    private final Exchange exchange;
    private final Consumer<String> contradicted;
    /** By the exchange's number. */
    private final Map<Integer, Question> questions = new HashMap<>();
    /** What is being asked at this moment: its answer may come before its number. */
    private Question asking;

    /**
     * Before the node's first message; {@link #complete} follows.
     *
     * @param what         a key is called in messages
     * @param join         makes the node's part of the exchange
     * @param contradicted is told, in words, of keys that were put with two values
     */
    NamedValues(String what, BiFunction<Shelf, Exchange.Local, Exchange> join, Consumer<String> contradicted) {
        this.shelf = new KeyShelf(what);
        this.exchange = join.apply(shelf, this);
        this.contradicted = contradicted;
    }

    /** Nothing is to be gathered. */
    void complete(long now) {
        exchange.complete(now);
    }

    Traffic traffic() {
        return exchange.traffic();
    }

    void put(Map<String, String> pairs, long now) {
        for (byte[] entries : KeyShelf.entries(pairs)) {
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
        int number = exchange.ask(keys.stream().mapToLong(KeyShelf::number).toArray(), now);
        if (asking != null) {
            questions.put(number, asking);
            asking = null;
        }
    }

    @Override
    public void begin(long now) {
        throw new IllegalStateException("values by name take no part in EXCHANGE: a restored node puts its own when it is joined");
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
            String value = shelf.get(key);
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
