package org.udckpt.bench.micro;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.udckpt.address.AddressMap;
import org.udckpt.address.AddressMapFile;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.address.TranslationTable;
import org.udckpt.address.VerbsAddress;

/**
 * The address map of 4096 queue pairs on 256 hosts: a look-up in a node's table, loading that table, writing and
 * reading the image's file.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AddressMapBenchmark {
    private static final int HOSTS = 256, PAIRS = 16, FIRST_QPN = 3000;
    private final AddressMap map = new AddressMap();
    private VerbsAddress[] addresses;
    private Path directory;
    private TranslationTable table;
    private byte[] file;
    private int next;

    @Setup
    public void fill() throws IOException {
        for (int host = 0; host < HOSTS; host++) {
            HostAddress address = map.newHost("node" + host);
            for (int pair = 0; pair < PAIRS; pair++) {
                VerbsAddress real = new VerbsAddress(address.lid(), Gid.ZERO, FIRST_QPN + pair);
                map.register(host * PAIRS + pair, 0, real, real);
            }
        }
        addresses = map.endpoints().stream().map(Endpoint::virtual).toArray(VerbsAddress[]::new);
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "udckpt-micro");
        table = TranslationTable.create(directory.resolve("table"), HOSTS * PAIRS, 0);
        table.putAll(map);
        file = AddressMapFile.write(map);
    }

    @TearDown
    public void remove() throws IOException {
        table.close();
        Files.delete(directory.resolve("table"));
        Files.delete(directory);
    }

    /** Each time of another address, in a stride that no prefetcher follows. */
    @Benchmark
    public Optional<Endpoint> lookUp() {
        next = (next + 1021) % addresses.length;
        return table.byVirtual(addresses[next].lid(), addresses[next].qpn());
    }

    @Benchmark
    public void loadTable() {
        table.putAll(map);
    }

    @Benchmark
    public byte[] writeFile() throws IOException {
        return AddressMapFile.write(map);
    }

    @Benchmark
    public AddressMap readFile() throws IOException {
        return AddressMapFile.read(file);
    }
}
