package org.udckpt.image.table;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.image.ImageError;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;

/** A table of an image under the right seal; the first byte says of which records. */
@Fuzzes({ArrowFile.class, ArrowDecoder.class, ArrowColumn.class, ColumnBuffers.class, SchemaCheck.class,
        RecordTable.class})
public final class TableFuzz {
    enum Color {
        RED, GREEN
    }

    sealed interface Union permits One, Other {}

    record One(int number, String text, byte[] bytes, Color color) implements Union {}

    record Other(long large, boolean truth, int[] ints, long[] longs) implements Union {}

    static final List<RecordTable<?>> TABLES =
            List.of(RecordTable.of(Union.class), RecordTable.of(Block.class), RecordTable.of(Chunk.class));
    private static final Path FILE = Path.of("/checkpoints/ckpt-0002/node-0000.odd.arrow");

    private TableFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        try {
            TABLES.get(Byte.toUnsignedInt(input[0]) % TABLES.size())
                    .decode(ByteBuffer.wrap(input, 1, input.length - 1).slice(), FILE);
        } catch (ImageError e) {
            // as promised
        }
    }
}
