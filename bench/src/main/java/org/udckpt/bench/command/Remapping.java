package org.udckpt.bench.command;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.bench.command.JobStatus.Address;
import org.udckpt.bench.command.JobStatus.Endpoint;
import org.udckpt.bench.command.JobStatus.Rank;

/** The addresses of one job before and after a restart: what it sees stays, what the device has changes. */
public record Remapping(JobStatus before, JobStatus after) {

    /**
     * Prints one line a queue pair.
     *
     * @throws BenchFailure when a rank kept a real address, or lost a virtual one
     */
    public void print(PrintStream out) {
        Map<Address, Address> old = new HashMap<>();
        before.ranks().forEach(rank -> rank.endpoints().forEach(e -> old.put(e.virtual(), e.real())));
        if (old.isEmpty()) {
            throw new BenchFailure("no queue pair was registered before the checkpoint");
        }
        out.printf("   %-4s %-24s %-24s %-24s %10s %10s %7s%n", "rank", "the job sees", "old real address",
                "new real address",
                "UD sends", "rewritten", "misses");
        int compared = 0;
        for (Rank rank : after.ranks()) {
            for (Endpoint endpoint : rank.endpoints()) {
                Address was = old.get(endpoint.virtual());
                out.printf("   %-4d %-24s %-24s %-24s %10d %10d %7d%n", rank.rank(), endpoint.virtual(),
                        was == null ? "(new)" : was,
                        endpoint.real(), rank.sends(), rank.rewrites(), rank.misses());
                if (endpoint.real().equals(was)) {
                    throw new BenchFailure(
                            "rank " + rank.rank() + " has its old address " + was + " again: nothing was shown");
                }
                compared += was == null ? 0 : 1;
            }
        }
        if (compared < old.size()) {
            throw new BenchFailure(
                    "of " + old.size() + " queue pairs only " + compared + " are there after the restart");
        }
    }
}
