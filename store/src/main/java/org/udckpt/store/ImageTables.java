package org.udckpt.store;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.address.RankSpan;
import org.udckpt.image.ImageError;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.table.RecordTable;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.process.check.ImageCheck;
import org.udckpt.process.cuda.CudaTimes;
import org.udckpt.process.cuda.Gpu;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.JobName;
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
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Which tables a node of an image has about its processes, in one place for the writing and the reading side. What is
 * around them is in {@link StateTables}.
 */
public final class ImageTables {
    static final String MEMORY = "memory";
    private static final String TCP_SOCKETS = "tcp-sockets";
    private static final String TERMINALS = "terminals";
    private static final String WATCHES = "inotify-watches";
    private static final String NOTICES = "file-notices";
    private static final String GUARDS = "guard-pages";
    private static final String PRIVILEGES = "privileges";
    private static final String ATTRIBUTES = "attributes";
    private static final String PACKET_SOCKETS = "packet-sockets";
    private static final String FILES = "files";
    private static final String MAPPED_FILES = "mapped-files";
    private static final String NAMES = "names";
    static final String PROCESSES = "processes";
    private static final String THREADS = "threads";
    private static final String REGIONS = "regions";
    private static final String DESCRIPTORS = "descriptors";
    private static final String OBJECTS = "objects";
    static final RecordTable<KernelObject> OBJECT_TABLE = RecordTable.of(KernelObject.class, ObjectKinds.records());
    private static final String TIMERS = "timers";
    private static final String ZOMBIES = "zombies";
    private static final String CLOCKS = "clocks";
    private static final String VECTORS = "vectors";

    private ImageTables() {}

    /** Initializes this class, which derives the schemas of a hundred record classes by reflection. */
    public static void load() {
        // the JVM has initialized the class when this is called
    }

    /** Which processes are ranks. */
    public static void writeRanks(NodeWriter node, List<RankRow> ranks) throws IOException {
        if (!ranks.isEmpty()) {
            node.table(RankRow.TABLE, RankRow.class, ranks);
        }
    }

    /**
     * The rows of {@code image}; empty in images that are older than this table.
     *
     * @param span the node's share of the job's: see {@link JobState#span}
     */
    public static List<RankRow> readRanks(NodeReader node, JobImage image, RankSpan span) throws IOException {
        List<RankRow> ranks = node.tableIfThere(RankRow.TABLE, RankRow.class);
        try {
            RankRow.check(ranks, image.processes(), span);
        } catch (BrokenTable broken) {
            throw corrupt(node, broken);
        }
        return ranks;
    }

    /** Processes and their kernel objects, and which memory is whose. */
    public static void write(NodeWriter node, JobImage image, List<MemoryRow> memory) throws IOException {
        node.table(PROCESSES, ProcessState.class, image.processes());
        node.table(THREADS, ThreadState.class, image.threads());
        node.table(REGIONS, Region.class, image.regions());
        node.table(DESCRIPTORS, Descriptor.class, image.descriptors());
        node.table(OBJECTS, OBJECT_TABLE, image.objects());
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
        if (!image.notices().isEmpty()) {
            node.table(NOTICES, FileNotice.class, image.notices());
        }
        if (!image.guards().isEmpty()) {
            node.table(GUARDS, GuardPages.class, image.guards());
        }
        if (!image.privileges().isEmpty()) {
            node.table(PRIVILEGES, Privileges.class, image.privileges());
        }
        if (!image.attributes().isEmpty()) {
            node.table(ATTRIBUTES, Attribute.class, image.attributes());
        }
        if (!image.packetSockets().isEmpty()) {
            node.table(PACKET_SOCKETS, PacketSocket.class, image.packetSockets());
        }
        if (!image.files().isEmpty()) {
            node.table(FILES, JobFile.class, image.files());
        }
        if (!image.names().isEmpty()) {
            node.table(NAMES, JobName.class, image.names());
        }
    }

    /**
     * What the driver took for processes that use CUDA, and the GPUs of the host; nothing where none does.
     *
     * @param times also of processes that have ended before the stop, which are left out
     */
    public static void writeCuda(NodeWriter node, JobImage image, List<CudaTimes> times, List<Gpu> gpus)
            throws IOException {
        Set<Integer> pids = image.processes().stream().map(ProcessState::pid).collect(Collectors.toSet());
        List<CudaTimes> there = times.stream().filter(one -> pids.contains(one.pid())).toList();
        if (!there.isEmpty()) {
            node.table(CudaTimes.TABLE, CudaTimes.class, there);
            node.table(Gpu.TABLE, Gpu.class, gpus);
        }
    }

    /** Empty where no process used CUDA, and in images that are older than this table. */
    public static List<CudaTimes> readCuda(NodeReader node, List<ProcessState> processes) throws IOException {
        List<CudaTimes> rows = node.tableIfThere(CudaTimes.TABLE, CudaTimes.class);
        try {
            CudaTimes.check(rows, processes.stream().map(ProcessState::pid).collect(Collectors.toSet()));
        } catch (BrokenTable broken) {
            throw corrupt(node, broken);
        }
        return rows;
    }

    /** The GPUs that the host had, by ordinal. */
    public static List<Gpu> readGpus(NodeReader node) throws IOException {
        List<Gpu> rows = node.tableIfThere(Gpu.TABLE, Gpu.class);
        try {
            Gpu.check(rows);
        } catch (BrokenTable broken) {
            throw corrupt(node, broken);
        }
        return rows;
    }

    /**
     * What its programs and libraries are known by, which takes longer to find out than the rest.
     *
     * @param encoded by {@link #encode}
     */
    public static void writeIdentities(NodeWriter node, byte[] encoded) throws IOException {
        node.table(MAPPED_FILES, encoded);
    }

    /** The table of what programs and libraries are known by. */
    public static byte[] encode(List<FileIdentity> files) {
        return RecordTable.of(FileIdentity.class).encode(files);
    }

    /** The files of one node alone; not held against its processes. */
    public static List<JobFile> readFiles(NodeReader node) throws IOException {
        return node.tableIfThere(FILES, JobFile.class);
    }

    /**
     * As {@link #readImage} and {@link #readMemory} will hold the tables against each other: what no restart would read
     * is no checkpoint.
     *
     * @throws Failure with code 69, naming the row
     */
    public static void requireReadable(JobImage image, List<MemorySource> memory) {
        try {
            ImageCheck.check(image);
            ImageCheck.check(image, memory);
        } catch (BrokenTable broken) {
            throw new Failure(ExitCode.UNSUPPORTED, "a restart would refuse table " + broken.table() + ", "
                    + broken.getMessage() + "; the job has what this version of udckpt does not know, or it is a "
                    + "fault of udckpt: report it", broken);
        }
    }

    /** @throws ImageError.Corrupt naming the row that no capture wrote */
    public static JobImage readImage(NodeReader node) throws IOException {
        JobImage image = new JobImage(node.table(PROCESSES, ProcessState.class), node.table(THREADS, ThreadState.class),
                node.table(REGIONS, Region.class),
                node.table(DESCRIPTORS, Descriptor.class), node.table(OBJECTS, OBJECT_TABLE),
                node.table(TIMERS, PosixTimer.class),
                node.table(ZOMBIES, Zombie.class), only(node, CLOCKS, Clocks.class), vectors(node),
                node.tableIfThere(TCP_SOCKETS, TcpSocket.class),
                node.tableIfThere(TERMINALS, TerminalObject.class), node.tableIfThere(WATCHES, InotifyWatch.class),
                node.tableIfThere(PACKET_SOCKETS, PacketSocket.class),
                node.tableIfThere(GUARDS, GuardPages.class),
                node.tableIfThere(FILES, JobFile.class),
                node.tableIfThere(PRIVILEGES, Privileges.class),
                node.tableIfThere(ATTRIBUTES, Attribute.class),
                node.tableIfThere(MAPPED_FILES, FileIdentity.class),
                node.tableIfThere(NOTICES, FileNotice.class),
                node.tableIfThere(NAMES, JobName.class));
        try {
            ImageCheck.check(image);
        } catch (BrokenTable broken) {
            throw corrupt(node, broken);
        }
        return image;
    }

    /** One source for each process and each shared memory of {@code image} that has contents. */
    public static List<MemorySource> readMemory(NodeReader node, JobImage image) throws IOException {
        List<MemorySource> sources = openMemory(node);
        check(node, image, sources);
        return sources;
    }

    /** As {@link #readMemory}, without the image, which {@link #check} holds against it. */
    public static List<MemorySource> openMemory(NodeReader node) throws IOException {
        List<MemoryRow> rows = node.table(MEMORY, MemoryRow.class);
        List<Integer> stored = node.processes();
        for (int i = 0; i < rows.size(); i++) {
            if (!stored.contains(rows.get(i).number())) {
                throw new ImageError.Corrupt(node.file(MEMORY), -1, "row " + i + ": number "
                        + rows.get(i).number() + " is not a memory object of the image");
            }
        }
        return StoredMemory.open(node, rows);
    }

    /** @throws ImageError.Corrupt the memory is not what the image's other tables say */
    public static void check(NodeReader node, JobImage image, List<MemorySource> sources) throws ImageError {
        try {
            ImageCheck.check(image, sources);
        } catch (BrokenTable broken) {
            throw corrupt(node, broken);
        }
    }

    private static ImageError corrupt(NodeReader node, BrokenTable broken) {
        return new ImageError.Corrupt(node.file(broken.table()), -1, broken.getMessage()
                + "; the image is forged, or a faulty udckpt wrote it", broken);
    }

    /** Images that were made before this table was have none. */
    private static VectorLayout vectors(NodeReader node) throws IOException {
        try {
            return only(node, VECTORS, VectorLayout.class);
        } catch (ImageError.Missing none) {
            return null;
        }
    }

    private static <T> T only(NodeReader node, String name, Class<T> type) throws IOException {
        List<T> rows = node.table(name, type);
        if (rows.size() != 1) {
            throw new ImageError.Corrupt(node.file(name), -1, rows.size() + " rows instead of one");
        }
        return rows.getFirst();
    }
}
