package org.udckpt.bench.micro;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.table.RecordTable;

/** A table of an image with 10,000 rows, as one that says where memory is: to Arrow and back. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class FormatBenchmark {
    private static final int ROWS = 10_000, PAGE = 4096;
    private final RecordTable<Chunk> table = RecordTable.of(Chunk.class);
    private final List<Chunk> rows =
            IntStream.range(0, ROWS).mapToObj(row -> Chunk.zero(row % 16, (long) row * PAGE, PAGE)).toList();
    private final byte[] file = table.encode(rows);

    @Benchmark
    public byte[] encode() {
        return table.encode(rows);
    }

    @Benchmark
    public List<Chunk> decode() throws IOException {
        return table.decode(file, Path.of("chunks.arrow"));
    }
}
