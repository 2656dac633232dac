package org.udckpt.image.block;

import org.udckpt.image.PlainRow;

/**
 * A row of the table {@code chunks}: a piece of a process's memory and where its bytes are.
 *
 * @param process    the id that the writer's caller gave the process
 * @param address    first byte, a multiple of 4096
 * @param length     bytes, a multiple of 4096
 * @param checkpoint whose block it is: this checkpoint's id, or that of an older one among the manifest's bases; 0 for
 *                   {@link Kind#ZERO}
 * @param block      row of that checkpoint's table {@code blocks} of the same node; -1 for {@link Kind#ZERO}
 * @param within     where the piece begins among the block's plain bytes, a multiple of 4096; 0 for {@link Kind#ZERO}
 * @param kind       whether bytes are stored
 */
public record Chunk(int process, long address, long length, long checkpoint, int block, int within, Kind kind)
        implements
            PlainRow {
    /** Whether a chunk has bytes in a block. */
    public enum Kind {
        DATA, ZERO
    }

    @Override
    public long number(int index) {
        return switch (index) {
            case 0 -> process;
            case 1 -> address;
            case 2 -> length;
            case 3 -> checkpoint;
            case 4 -> block;
            case 5 -> within;
            default -> throw new IllegalArgumentException("component " + index + " is no number");
        };
    }

    @Override
    public Kind other(int index) {
        return kind;
    }

    /** The first byte after the chunk. */
    public long end() {
        return address + length;
    }

    public static Chunk zero(int process, long address, long length) {
        return new Chunk(process, address, length, 0, -1, 0, Kind.ZERO);
    }

    /** Whether {@code next} goes on where this one ends, in memory and among the stored bytes. */
    public boolean goesOnWith(Chunk next) {
        return process == next.process && end() == next.address && kind == next.kind
                && (kind == Kind.ZERO
                        || checkpoint == next.checkpoint && block == next.block && within + length == next.within);
    }

    /** Both as one; {@link #goesOnWith} must hold. */
    public Chunk with(Chunk next) {
        return new Chunk(process, address, length + next.length, checkpoint, block, within, kind);
    }

    public Chunk inBlock(int number) {
        return new Chunk(process, address, length, checkpoint, number, within, kind);
    }
}
