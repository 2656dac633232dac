package org.udckpt.job.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.udckpt.address.AddressMap;
import org.udckpt.address.AddressMapFile;
import org.udckpt.image.ImageError;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.pmi.PmiState;
import org.udckpt.process.check.BrokenTable;
import org.udckpt.process.check.ImageCheck;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;
import org.udckpt.process.model.Zombie;

/** Which tables a job's image has, in one place for the writing and the reading side. */
public final class ImageTables {
    private static final String JOB = "job";
    private static final String PMI = "pmi";
    private static final String ADDRESSES = "addresses";
    private static final String MEMORY = "memory";
    private static final String TCP_SOCKETS = "tcp-sockets";
    private static final String TERMINALS = "terminals";
    private static final String WATCHES = "inotify-watches";
    private static final String GUARDS = "guard-pages";
    private static final String PRIVILEGES = "privileges";
    private static final String PACKET_SOCKETS = "packet-sockets";
    private static final String FILES = "files";
    private static final String PROCESSES = "processes";
    private static final String THREADS = "threads";
    private static final String REGIONS = "regions";
    private static final String DESCRIPTORS = "descriptors";
    private static final String OBJECTS = "objects";
    private static final String TIMERS = "timers";
    private static final String ZOMBIES = "zombies";
    private static final String CLOCKS = "clocks";
    private static final String VECTORS = "vectors";
    private static final String STOP_TIMES = "stop-times";

    private ImageTables() {}

    public static void write(CheckpointWriter writer, JobState state) throws IOException {
        writer.table(JOB, JobRow.class, List.of(state.row()));
        List<PmiRow> pmi = new ArrayList<>();
        state.pmi().pairs().forEach((key, value) -> pmi.add(new PmiRow.Pair(key, value)));
        state.pmi().ranks().forEach(rank -> pmi.add(new PmiRow.Rank(rank.rank(), rank.phase(), rank.inBarrier())));
        writer.table(PMI, PmiRow.class, pmi);
        writer.table(ADDRESSES, AddressRow.class, List.of(new AddressRow(AddressMapFile.write(state.addresses()))));
    }

    /** Which processes are ranks. */
    public static void writeRanks(NodeWriter node, List<RankRow> ranks) throws IOException {
        if (!ranks.isEmpty()) {
            node.table(RankRow.TABLE, RankRow.class, ranks);
        }
    }

    /** Those of {@code image}; empty in images that were made before this table was. */
    public static List<RankRow> readRanks(CheckpointReader reader, JobImage image) throws IOException {
        List<RankRow> ranks = reader.tableIfThere(RankRow.TABLE, RankRow.class);
        try {
            RankRow.check(ranks, image.processes());
        } catch (BrokenTable broken) {
            throw corrupt(reader, broken);
        }
        return ranks;
    }

    public static void write(CheckpointWriter writer, StopTimesRow stops) throws IOException {
        writer.table(STOP_TIMES, StopTimesRow.class, List.of(stops));
    }

    /** Of the job's life until this checkpoint; empty in images that were made before this table was. */
    public static Optional<StopTimesRow> readStopTimes(CheckpointReader reader) throws IOException {
        return reader.tableIfThere(STOP_TIMES, StopTimesRow.class).stream().findFirst();
    }

    public static void write(NodeWriter node, JobImage image, List<MemoryRow> memory) throws IOException {
        node.table(PROCESSES, ProcessState.class, image.processes());
        node.table(THREADS, ThreadState.class, image.threads());
        node.table(REGIONS, Region.class, image.regions());
        node.table(DESCRIPTORS, Descriptor.class, image.descriptors());
        node.table(OBJECTS, KernelObject.class, image.objects());
        node.table(TIMERS, PosixTimer.class, image.timers());
        node.table(ZOMBIES, Zombie.class, image.zombies());
        node.table(CLOCKS, Clocks.class, List.of(image.clocks()));
        node.table(VECTORS, VectorLayout.class, List.of(image.vectors()));
        node.table(MEMORY, MemoryRow.class, memory);
        if (!image.tcpSockets().isEmpty()) {
            node.table(TCP_SOCKETS, TcpSocket.class, image.tcpSockets());
        }
        if (!image.terminals().isEmpty()) {
            node.table(TERMINALS, TerminalObject.class, image.terminals());
        }
        if (!image.watches().isEmpty()) {
            node.table(WATCHES, InotifyWatch.class, image.watches());
        }
        if (!image.guards().isEmpty()) {
            node.table(GUARDS, GuardPages.class, image.guards());
        }
        if (!image.privileges().isEmpty()) {
            node.table(PRIVILEGES, Privileges.class, image.privileges());
        }
        if (!image.packetSockets().isEmpty()) {
            node.table(PACKET_SOCKETS, PacketSocket.class, image.packetSockets());
        }
        if (!image.files().isEmpty()) {
            node.table(FILES, JobFile.class, image.files());
        }
    }

    public static JobState readState(CheckpointReader reader) throws IOException {
        JobRow row = only(reader, JOB, JobRow.class);
        Map<String, String> pairs = new TreeMap<>();
        List<PmiState.RankState> ranks = new ArrayList<>();
        for (PmiRow entry : reader.table(PMI, PmiRow.class)) {
            switch (entry) {
                case PmiRow.Pair pair -> pairs.put(pair.key(), pair.value());
                case PmiRow.Rank rank -> ranks.add(new PmiState.RankState(rank.rank(), rank.phase(), rank.inBarrier()));
            }
        }
        HostLayout layout = HostLayout.parse(row.hosts());
        if (ranks.size() != layout.ranks()) {
            throw new ImageError.Corrupt(table(reader, PMI), -1, ranks.size() + " ranks, but the job has " + layout.ranks());
        }
        return new JobState(row, layout, new PmiState(row.pmiName(), pairs, List.copyOf(ranks)), addresses(reader));
    }

    private static AddressMap addresses(CheckpointReader reader) throws IOException {
        byte[] arrow = only(reader, ADDRESSES, AddressRow.class).arrow();
        try {
            return AddressMapFile.read(arrow);
        } catch (IOException e) {
            throw new ImageError.Corrupt(table(reader, ADDRESSES), -1, e.getMessage(), e);
        }
    }

    public static JobImage readImage(CheckpointReader reader) throws IOException {
        JobImage image = new JobImage(reader.table(PROCESSES, ProcessState.class), reader.table(THREADS, ThreadState.class), reader.table(REGIONS, Region.class),
                reader.table(DESCRIPTORS, Descriptor.class), reader.table(OBJECTS, KernelObject.class), reader.table(TIMERS, PosixTimer.class),
                reader.table(ZOMBIES, Zombie.class), only(reader, CLOCKS, Clocks.class), vectors(reader),
                reader.tableIfThere(TCP_SOCKETS, TcpSocket.class),
                reader.tableIfThere(TERMINALS, TerminalObject.class), reader.tableIfThere(WATCHES, InotifyWatch.class),
                reader.tableIfThere(PACKET_SOCKETS, PacketSocket.class),
                reader.tableIfThere(GUARDS, GuardPages.class),
                reader.tableIfThere(FILES, JobFile.class),
                reader.tableIfThere(PRIVILEGES, Privileges.class));
        try {
            ImageCheck.check(image);
        } catch (BrokenTable broken) {
            throw corrupt(reader, broken);
        }
        return image;
    }

    /** One source for each process and each shared memory of {@code image} that has contents. */
    public static List<MemorySource> readMemory(CheckpointReader reader, JobImage image) throws IOException {
        List<MemoryRow> rows = reader.table(MEMORY, MemoryRow.class);
        List<Integer> stored = reader.processes().getOrDefault(StoredMemory.NODE, List.of());
        for (int i = 0; i < rows.size(); i++) {
            if (!stored.contains(rows.get(i).number())) {
                throw new ImageError.Corrupt(reader.file(MEMORY), -1, "row " + i + ": there is no memory " + rows.get(i).number());
            }
        }
        List<MemorySource> sources = StoredMemory.open(reader, rows);
        try {
            ImageCheck.check(image, sources);
        } catch (BrokenTable broken) {
            throw corrupt(reader, broken);
        }
        return sources;
    }

    private static ImageError corrupt(CheckpointReader reader, BrokenTable broken) {
        return new ImageError.Corrupt(reader.file(broken.table()), -1, broken.getMessage() + ": no capture wrote this", broken);
    }

    /** Images that were made before this table was have none. */
    private static VectorLayout vectors(CheckpointReader reader) throws IOException {
        try {
            return only(reader, VECTORS, VectorLayout.class);
        } catch (ImageError.Missing none) {
            return null;
        }
    }

    private static <T> T only(CheckpointReader reader, String name, Class<T> type) throws IOException {
        List<T> rows = reader.table(name, type);
        if (rows.size() != 1) {
            throw new ImageError.Corrupt(table(reader, name), -1, rows.size() + " rows where one is due");
        }
        return rows.getFirst();
    }

    private static Path table(CheckpointReader reader, String name) {
        return reader.file(name);
    }
}
