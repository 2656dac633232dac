package org.udckpt.store;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.process.model.ProcessState;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Which processes of a checkpoint a command line means, by {@code --rank R}, {@code --pid P} and {@code --node N}; each
 * may be null.
 *
 * @param node whose pid it is, where several nodes have a process of that number
 */
public record ProcessChoice(Integer rank, Integer pid, Integer node) {
    public ProcessChoice {
        if (node != null && pid == null) {
            throw new Failure(ExitCode.USAGE, "--node " + node + " needs --pid P");
        }
    }

    /** A process and where it is. */
    public record Chosen(OpenNode node, ProcessState state) {
        /** {@code rank 3, process 4711 (app)}; without the rank where there is none. */
        public String name() {
            return node.processes().name(state);
        }
    }

    /**
     * One process: of a rank without a pid that with the verbs device, else its first.
     *
     * @throws Failure 66 naming what is there, 64 where a pid alone does not say it
     */
    public Chosen one(OpenImage image) {
        if (rank != null) {
            OpenNode of = image.nodeOf(rank);
            ProcessState found = of.processes().one(rank, pid);
            if (node != null && node != of.index()) {
                throw new Failure(ExitCode.NOT_FOUND,
                        "rank " + rank + " of " + image.name() + " is not on node " + node + ", but" + image.place(of));
            }
            return new Chosen(of, found);
        }
        List<OpenNode> nodes =
                image.nodes().stream().filter(candidate -> node == null || candidate.index() == node).toList();
        List<Chosen> found = among(nodes).stream().filter(one -> pid == null || one.state().pid() == pid).toList();
        if (found.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, image.name() + " has no process " + pid
                    + (node == null ? "" : " on node " + node) + "; there "
                    + ImageProcesses.list(among(image.nodes()).stream().map(one -> named(image, one)).toList()));
        }
        if (pid != null && found.size() > 1) {
            throw new Failure(ExitCode.USAGE, "--pid " + pid + ": each host numbers its own processes, and in "
                    + image.name() + " this pid belongs to " + found.size() + " processes, "
                    + String.join(", ", found.stream().map(one -> named(image, one)).toList())
                    + "; add the rank (--rank R) or the node (--node N)");
        }
        return found.getFirst();
    }

    /**
     * The one of a pid; all of a rank, that with the verbs device first; else all that there are, parents before their
     * children.
     */
    public List<Chosen> all(OpenImage image) {
        if (pid != null) {
            return List.of(one(image));
        }
        if (rank != null) {
            OpenNode of = image.nodeOf(rank);
            return of.processes().of(rank).stream().map(process -> new Chosen(of, process)).toList();
        }
        return among(image.nodes());
    }

    private static List<Chosen> among(List<OpenNode> nodes) {
        List<Chosen> all = new ArrayList<>();
        nodes.forEach(node -> node.processes().all().forEach(process -> all.add(new Chosen(node, process))));
        return all;
    }

    /** {@code 17 (app)}, with the place where there are several. */
    private static String named(OpenImage image, Chosen one) {
        return one.state().pid() + " (" + one.state().name() + ")" + image.place(one.node());
    }
}
