package org.udckpt.bench.command;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** What {@code udckpt status --json} says of one job. */
public record JobStatus(String name, String state, List<Rank> ranks) {

    /** One rank: {@code pid} is the one that this machine's other processes see. */
    public record Rank(int rank, long pid, String host, List<Endpoint> endpoints, long sends, long rewrites,
            long misses) {}

    /** One UD queue pair, as the job sees it and as the device does. */
    public record Endpoint(Address virtual, Address real) {}

    public record Address(int lid, int qpn) {
        @Override
        public String toString() {
            return "LID %d QPN 0x%06x".formatted(lid, qpn);
        }
    }

    static JobStatus from(JsonNode status, String job) {
        for (JsonNode entry : status.path("jobs")) {
            if (entry.path("name").asText().equals(job)) {
                List<Rank> ranks = new ArrayList<>();
                entry.path("ranks").forEach(rank -> ranks.add(rank(rank)));
                return new JobStatus(job, entry.path("state").asText(), ranks);
            }
        }
        throw new BenchFailure("udckpt status --json knows no job " + job + ": " + status);
    }

    private static Rank rank(JsonNode rank) {
        List<Endpoint> endpoints = new ArrayList<>();
        rank.path("endpoints")
                .forEach(e -> endpoints.add(new Endpoint(address(e.path("virtual")), address(e.path("real")))));
        JsonNode counters = rank.path("counters");
        return new Rank(required(rank, "rank").asInt(), required(rank, "pid").asLong(), rank.path("host").asText(),
                endpoints,
                counters.path("ud_sends").asLong(), counters.path("ud_rewrites").asLong(),
                counters.path("table_misses").asLong());
    }

    private static Address address(JsonNode address) {
        return new Address(required(address, "lid").asInt(), required(address, "qpn").asInt());
    }

    private static JsonNode required(JsonNode node, String field) {
        JsonNode value = node.get(field);
        if (value == null || value.isNull()) {
            throw new BenchFailure("udckpt status --json lacks \"" + field + "\" in " + node);
        }
        return value;
    }

    /** {@code kill -9} to every rank. */
    public void killRanks() {
        for (Rank rank : ranks) {
            ProcessHandle.of(rank.pid).ifPresent(ProcessHandle::destroyForcibly);
        }
    }
}
