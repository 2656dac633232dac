package org.udckpt.cluster.status;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.address.Endpoint;
import org.udckpt.address.RankSpan;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Unit;

/**
 * The lead's questions to all units about their ranks, and their answers, each of two tables. Who asks while a question
 * is open hears what comes to it: there is one at a time. Nothing but the asker waits for an answer. Thread-safe.
 */
public final class RankStatus implements AutoCloseable {
    /** Most units that are asked: each answer is a new connection to the lead. */
    public static final int MOST_UNITS = 256;
    /** Most endpoints of all units together: a question takes the lead some 100 MB at most. */
    static final int MOST_ENDPOINTS = 1 << 17;
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** What came of one question, by unit. */
    private static final class Question {
        final int number;
        final long end;
        final Map<Integer, Answer> answers = new TreeMap<>();

        Question(int number, long end) {
            this.number = number;
            this.end = end;
        }

        Answer of(int unit) {
            return answers.computeIfAbsent(unit, _ -> new Answer());
        }

        Map<Integer, UnitRanks> whole() {
            Map<Integer, UnitRanks> whole = new TreeMap<>();
            answers.forEach((unit, answer) -> {
                if (answer.ranks != null && answer.endpoints != null) {
                    whole.put(unit, new UnitRanks(answer.ranks, answer.endpoints));
                }
            });
            return whole;
        }
    }

    private static final class Answer {
        List<RankStatusRow> ranks;
        List<Endpoint> endpoints;
    }

    private final NodeJob job;
    private final long timeout;
    private Consumer<ControlMessage.ToUnits> toAll;
    private Question open;
    private int asked;
    private boolean closed;

    public RankStatus(NodeJob job) {
        this(job, TIMEOUT);
    }

    RankStatus(NodeJob job, Duration timeout) {
        this.job = job;
        this.timeout = timeout.toNanos();
    }

    /** The agents are there. @param all passes a note to all of them */
    public synchronized void open(Consumer<ControlMessage.ToUnits> all) {
        toAll = all;
    }

    /** Whether units are asked at all. */
    public boolean asks() {
        return job.units().size() <= MOST_UNITS;
    }

    /**
     * Asks all units, and waits some two seconds at the most.
     *
     * @return the answers that have come, by unit
     */
    public synchronized Map<Integer, UnitRanks> ask() throws InterruptedException {
        if (!asks() || closed || toAll == null) {
            return Map.of();
        }
        if (open == null || open.end - System.nanoTime() <= 0) {
            open = new Question(++asked, System.nanoTime() + timeout);
            toAll.accept(new ControlMessage.Tell(open.number, most()));
        }
        Question mine = open;
        Map<Integer, UnitRanks> answers = mine.whole();
        for (long left = timeout; answers.size() < job.units().size() && left > 0 && !closed;
                left = mine.end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
            answers = mine.whole();
        }
        if (open == mine) {
            open = null; // whoever asks now wants to know what is true now; and what it takes is free
        }
        return answers;
    }

    private int most() {
        return MOST_ENDPOINTS / job.units().size();
    }

    /**
     * A node's table. What comes too late is dropped without a word.
     *
     * @param table is the caller's
     * @throws IllegalArgumentException if it is none that this node would have sent
     */
    public void table(int from, byte[] subject, VectorSchemaRoot table) {
        TableSubject of = TableSubject.decode(subject);
        synchronized (this) {
            if (of.question() < 1 || of.question() > asked) {
                throw new IllegalArgumentException("node " + from + " answers question " + of.question()
                        + ", which was not asked");
            }
            if (open == null || open.number != of.question()) {
                return;
            }
        }
        Unit unit = job.units().get(NodeJob.unit(from));
        try {
            read(of, NodeJob.unit(from), new RankSpan(unit.first(), unit.count(), job.ranks()), table);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "unit " + unit.name() + " on host " + unit.host() + ": " + e.getMessage(), e);
        }
    }

    private void read(TableSubject of, int number, RankSpan span, VectorSchemaRoot table) {
        switch (of.kind()) {
            case RANKS -> {
                var ranks = RankStatusTable.read(table, span);
                put(of.question(), number, answer -> answer.ranks = ranks);
            }
            case ENDPOINTS -> {
                var endpoints = EndpointTable.read(table, span, most());
                put(of.question(), number, answer -> answer.endpoints = endpoints);
            }
        }
    }

    private synchronized void put(int question, int unit, Consumer<Answer> what) {
        if (open != null && open.number == question) {
            what.accept(open.of(unit));
            notifyAll();
        }
    }

    /** The job is ending: callers that wait get the answers that have come, and no node is asked any more. */
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
    }
}
