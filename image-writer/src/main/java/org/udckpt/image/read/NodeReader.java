package org.udckpt.image.read;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.table.RecordTable;

/**
 * One node of a checkpoint: its own tables and its processes' memory, and nothing of the job's or another node's.
 * Numbers of processes, of kernel objects and of memories are unique within a node only. Opened by
 * {@link CheckpointReader#node}, and of use until that is closed; thread-safe.
 */
public final class NodeReader {
    private final CheckpointReader checkpoint;
    private final Manifest.Node node;

    NodeReader(CheckpointReader checkpoint, Manifest.Node node) {
        this.checkpoint = checkpoint;
        this.node = node;
    }

    /** Its number in the image. */
    public int index() {
        return node.index();
    }

    /** The host that it was on. */
    public String host() {
        return node.host();
    }

    /** The checkpoint, for what belongs to the whole job. */
    public CheckpointReader checkpoint() {
        return checkpoint;
    }

    /** Whether it has a table of that name. */
    public boolean has(String name) {
        return checkpoint.has(node.index(), name);
    }

    /** Rows of a table. @throws ImageError.Missing when it has none of that name */
    public <T> List<T> table(String name, Class<T> type) throws IOException {
        return checkpoint.table(node.index(), name, type);
    }

    /** As {@link #table(String, Class)}, of rows that a list of records decides about. */
    public <T> List<T> table(String name, RecordTable<T> rows) throws IOException {
        return checkpoint.table(node.index(), name, rows);
    }

    /** As {@link #table(String, Class)}, but no rows when there is no such table: one that later versions added. */
    public <T> List<T> tableIfThere(String name, Class<T> type) throws IOException {
        return has(name) ? table(name, type) : List.of();
    }

    /** The file of a table, for an error about what is in it. The manifest when there is none. */
    public Path file(String name) {
        return checkpoint.file(node.index(), name);
    }

    /** The numbers of the processes whose memory it holds, ascending. */
    public List<Integer> processes() throws IOException {
        return checkpoint.memory(node).processes();
    }

    /**
     * The memory of a process; a new reader each time, each for one thread.
     *
     * @throws IllegalArgumentException when it holds none of that number
     */
    public MemoryReader memory(int process) throws IOException {
        return checkpoint.memory(node).reader(process);
    }
}
