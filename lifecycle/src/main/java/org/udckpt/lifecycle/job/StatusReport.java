package org.udckpt.lifecycle.job;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.address.Endpoint;
import org.udckpt.agent.Job;
import org.udckpt.agent.JobProcess;
import org.udckpt.agent.JobRanks;
import org.udckpt.cluster.status.RankJson;
import org.udckpt.lifecycle.checkpoint.CheckpointQueue;
import org.udckpt.lifecycle.checkpoint.RunStatistics;
import org.udckpt.lifecycle.checkpoint.UnitCheckpoints;
import org.udckpt.store.tiers.TierFlush;

/** The agent's part of {@code status --json}: everything but the counters, which anyone reads from shared memory. */
final class StatusReport {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StatusReport() {}

    static ObjectNode of(Job job, CheckpointQueue checkpoints, Optional<TierFlush> flush) {
        ObjectNode node = begin(job, checkpoints.state());
        checkpoints.writing().ifPresent(progress -> progress.describe(node.putObject("write")));
        flush.ifPresent(running -> running.describe(node.putObject("drain")));
        return ranks(job, checkpoints.statistics(), node);
    }

    /** The same of a unit of a job of several nodes. */
    static ObjectNode of(Job job, UnitCheckpoints checkpoints) {
        ObjectNode node = begin(job, checkpoints.state()).put("unit_of", job.facts().name());
        checkpoints.writing().ifPresent(write -> write.progress().describe(node.putObject("write")));
        return ranks(job, checkpoints.statistics(), node);
    }

    private static ObjectNode begin(Job job, String state) {
        return JSON.createObjectNode().put("name", job.runtime().name()).put("dir", job.imageDirectory().toString())
                .put("state", state);
    }

    private static ObjectNode ranks(Job job, RunStatistics statistics, ObjectNode node) {
        statistics.describe(node.putObject("checkpoints"));
        node.put("generation", job.facts().generation());
        if (job.filling().bytes() > 0) {
            node.putObject("lazy").put("bytes", job.filling().bytes()).put("missing", job.filling().missing());
        }
        ArrayNode ranks = node.putArray("ranks");
        JobRanks now = job.jobRanks();
        for (JobRanks.Rank rank : now.all()) {
            ObjectNode one = ranks.addObject();
            one.put("rank", rank.number());
            if (rank.mpiRank() >= 0) {
                one.put("mpi_rank", rank.mpiRank());
            }
            one.put("pid", rank.hostPid());
            one.put("host", job.facts().layout().hostName(rank.root()));
            one.put("alive", rank.alive());
            ArrayNode endpoints = one.putArray("endpoints");
            for (Endpoint endpoint : job.addresses().endpoints(rank.number())) {
                RankJson.endpoint(endpoints, endpoint);
            }
        }
        processes(node.putArray("processes"), now);
        return node;
    }

    /** All of the job, with the rank to which each belongs. */
    private static void processes(ArrayNode node, JobRanks now) {
        Map<Integer, OptionalInt> ranks = now.byProcess();
        for (JobProcess process : now.processes()) {
            ObjectNode one = node.addObject().put("pid", process.hostPid()).put("parent", process.parent()).put("name",
                    process.name());
            ranks.get(process.hostPid()).ifPresent(rank -> one.put("rank", rank));
        }
    }
}
