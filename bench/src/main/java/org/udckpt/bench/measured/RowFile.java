package org.udckpt.bench.measured;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.udckpt.image.table.RecordTable;

/** Rows as an Arrow IPC file. */
public final class RowFile {
    /** Name of the file with all rows of a run, in the run's directory. */
    public static final String NAME = "results.arrow";
    private static final RecordTable<Row> TABLE = RecordTable.of(Row.class);

    private RowFile() {}

    /** As a whole or not at all, and durable. */
    public static void write(Path file, List<Row> rows) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try (FileChannel channel = FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.wrap(TABLE.encode(rows));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** @throws org.udckpt.image.ImageError when it is no such file */
    public static List<Row> read(Path file) throws IOException {
        return TABLE.decode(Files.readAllBytes(file), file);
    }
}
