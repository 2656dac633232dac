package org.udckpt.lifecycle.unit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.address.Endpoint;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobRanks;
import org.udckpt.cluster.ControlMessage;
import org.udckpt.cluster.TableSender;
import org.udckpt.cluster.status.EndpointTable;
import org.udckpt.cluster.status.RankStatusRow;
import org.udckpt.cluster.status.RankStatusTable;
import org.udckpt.cluster.status.TableSubject;
import org.udckpt.cluster.status.UnitRanks;
import org.udckpt.support.report.Messages;

/**
 * A unit's answers to the lead's questions about its ranks. One at a time, in a thread that is there while one is due:
 * where the lead does not take them, the newest question is answered when it does. What goes wrong is an answer that
 * does not come, and nothing for the ranks.
 */
final class UnitTables {
    private static final int LEAD = 0;
    private static final long APART_MS = 2;

    private final TableSender tables;
    private final Job job;
    private final int unit;
    private ControlMessage.Tell next;
    private boolean answering;

    UnitTables(TableSender tables, Job job, int unit) {
        this.tables = tables;
        this.job = job;
        this.unit = unit;
    }

    /** Returns at once. */
    synchronized void tell(ControlMessage.Tell asked) {
        next = asked;
        if (!answering) {
            answering = true;
            Thread.ofPlatform().daemon().name("unit-tables").start(this::answer);
        }
    }

    private synchronized ControlMessage.Tell next() {
        ControlMessage.Tell asked = next;
        next = null;
        answering = asked != null;
        return asked;
    }

    private void answer() {
        try {
            Thread.sleep(APART_MS * unit); // a connection for each, which the lead has to let in
            for (ControlMessage.Tell asked = next(); asked != null; asked = next()) {
                try {
                    send(asked.question(), rows(asked.endpoints()));
                } catch (ExecutionException | RuntimeException | Error e) {
                    // given up by the lead, or the job has just been closed
                    Messages.debugTrace("the lead's question " + asked.question() + " is not answered", e);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private UnitRanks rows(int mostEndpoints) {
        Map<Integer, List<Endpoint>> endpoints =
                job.addresses().endpoints().stream().collect(Collectors.groupingBy(Endpoint::rank));
        List<RankStatusRow> rows = new ArrayList<>();
        for (JobRanks.Rank rank : job.jobRanks().all()) {
            rows.add(new RankStatusRow(rank.number(), rank.mpiRank(), rank.hostPid(), rank.alive(),
                    endpoints.getOrDefault(rank.number(), List.of()).size(), job.counted(rank.number())));
        }
        endpoints.keySet().retainAll(rows.stream().map(RankStatusRow::number).collect(Collectors.toSet()));
        return new UnitRanks(rows, some(endpoints.values(), mostEndpoints));
    }

    /** As many of each rank where there are too many of all. */
    private static List<Endpoint> some(Collection<List<Endpoint>> endpoints, int most) {
        boolean all = endpoints.stream().mapToLong(List::size).sum() <= most;
        return endpoints.stream().flatMap(each -> each.stream().limit(all ? most : most / endpoints.size())).toList();
    }

    private void send(int question, UnitRanks rows) throws InterruptedException, ExecutionException {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        try (BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot ranks = RankStatusTable.table(rows.ranks(), allocator);
                VectorSchemaRoot endpoints = EndpointTable.table(rows.endpoints(), allocator)) {
            try {
                sent.add(tables.table(LEAD, new TableSubject(TableSubject.Kind.RANKS, question).encode(), ranks));
                sent.add(tables.table(LEAD, new TableSubject(TableSubject.Kind.ENDPOINTS, question).encode(),
                        endpoints));
            } finally {
                // they stay as they are until then
                CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).handle((_, _) -> null).join();
            }
            for (CompletableFuture<Void> one : sent) {
                one.get();
            }
        }
    }
}
