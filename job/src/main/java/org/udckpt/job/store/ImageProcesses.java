package org.udckpt.job.store;

import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.process.model.ProcessState;

/**
 * Which process of a checkpoint a command line means.
 *
 * @param checkpoint named in errors
 * @param all the processes of the image, parents before their children
 */
public record ImageProcesses(String checkpoint, List<ProcessState> all) {
    /** The ranks that are there, ascending. */
    public List<Integer> ranks() {
        return all.stream().map(ProcessState::rank).distinct().sorted().toList();
    }

    /** The processes of a rank, its first one first; 66 naming the ranks that are there. */
    public List<ProcessState> of(int rank) {
        List<ProcessState> found = all.stream().filter(process -> process.rank() == rank).toList();
        if (found.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, checkpoint + " has no rank " + rank + "; there " + list(ranks().stream().map(Object::toString).toList()));
        }
        return found;
    }

    /** A process of a rank: the first one, or the one with that pid; 66 naming those that are there. */
    public ProcessState one(int rank, Integer pid) {
        List<ProcessState> candidates = of(rank);
        if (pid == null) {
            return candidates.getFirst();
        }
        return candidates.stream().filter(process -> process.pid() == pid).findFirst().orElseThrow(() -> new Failure(ExitCode.NOT_FOUND,
                "rank " + rank + " of " + checkpoint + " has no process " + pid + "; there "
                        + list(candidates.stream().map(process -> process.pid() + " (" + process.name() + ")").toList())));
    }

    private static String list(List<String> names) {
        return (names.size() == 1 ? "is " : "are ") + names.stream().collect(Collectors.joining(", "));
    }
}
