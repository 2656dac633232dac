package org.udckpt.inspect.core;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.linux.Folder;
import org.udckpt.linux.NewFile;
import org.udckpt.linux.Trust;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedTables;
import org.udckpt.process.model.ThreadState;
import org.udckpt.store.OpenNode;

/** Writes one process of a checkpoint as a core file. */
public final class CoreExport {
    private static final int BUFFER = 1 << 20;

    private final OpenNode image;
    private final ProcessState process;
    private final List<ThreadState> threads;
    private final List<Region> regions;
    /** The process whose memory it has: it shares that (clone(2), CLONE_VM), or it is itself. */
    private final int memoryOf;

    /**
     * What was written.
     *
     * @param length of the file, with its holes
     * @param written bytes, without them
     * @param segments of memory
     * @param problems sentences about files on this disk that are not those of the checkpoint
     */
    public record Result(int threads, int segments, long length, long written, List<String> problems) {}

    public CoreExport(OpenNode image, ProcessState process) {
        this.image = image;
        this.process = process;
        this.threads = image.image().threads().stream().filter(thread -> thread.pid() == process.pid()).toList();
        this.memoryOf = SharedTables.of(image.image(), AttributeKind.SHARED_MEMORY).first(process.pid());
        this.regions =
                image.image().regions().stream().filter(region -> region.pid() == memoryOf && dumped(region))
                        .sorted(Comparator.comparing(Region::start, Long::compareUnsigned)).toList();
    }

    /**
     * The kernel's own pages but the vDSO are not memory that a core file has (Linux, fs/coredump.c, vma_dump_size).
     */
    private static boolean dumped(Region region) {
        return !region.kernelOwned() || region.path().equals("[vdso]");
    }

    /**
     * Under a temporary name until it is whole, for its owner's eyes only.
     *
     * @param target that is not there
     * @throws FileAlreadyExistsException when it is there
     */
    public Result write(Path target, CheckpointReader.Progress progress) throws IOException {
        Path absolute = target.toAbsolutePath();
        String name = absolute.getFileName().toString();
        try (Folder folder = Folder.reach(absolute.getParent().toString(), Trust.ANY)) {
            if (folder.stat(name) != null) {
                throw new FileAlreadyExistsException(target.toString());
            }
            try (NewFile file = NewFile.beside(folder, name)) {
                Result result = fill(file.descriptor(), progress);
                if (!file.becomes(name)) {
                    throw new FileAlreadyExistsException(target.toString());
                }
                return result;
            }
        }
    }

    private Result fill(int descriptor, CheckpointReader.Progress progress) throws IOException {
        FirstPages firstPages = new FirstPages(image.image());
        Layers layers = new Layers(image, memoryOf, firstPages);
        List<Segment> segments = new ArrayList<>();
        regions.forEach(region -> segments.addAll(Segment.of(layers.of(region), region.permissions())));
        CoreLayout layout = CoreLayout.of(segments, notes(regions.stream().filter(layers::onFile).toList()));
        try (SparseFile file = new SparseFile(descriptor); Arena arena = Arena.ofConfined()) {
            file.setLength(layout.length());
            file.write(0, layout.headers());
            copy(segments, layout, file, arena.allocate(BUFFER, 4096), progress);
            return new Result(threads.size(), segments.size(), layout.length(), file.written(), firstPages.problems());
        }
    }

    /**
     * In the kernel's order: a thread's status ends the thread before it, and the first one's is followed by what is
     * the process's.
     */
    private byte[] notes(List<Region> files) {
        Notes notes = new Notes();
        ThreadNotes each = new ThreadNotes(process, image.image().vectors());
        for (ThreadState thread : threads) {
            notes.add(Notes.PRSTATUS, each.status(thread));
            if (thread == threads.getFirst()) {
                notes.add(Notes.PRPSINFO, ProcessNotes.information(process, image.memory(memoryOf)));
                notes.add(Notes.SIGINFO, new byte[128]); // no signal ended it
                notes.add(Notes.AUXV, process.auxv());
                notes.add(Notes.FILE, ProcessNotes.files(files));
            }
            notes.add(Notes.FPREGSET, each.legacy(thread));
            notes.add(Notes.X86_XSTATE, each.vectors(thread));
        }
        return notes.toBytes();
    }

    private static void copy(List<Segment> segments, CoreLayout layout, SparseFile file, MemorySegment buffer,
            CheckpointReader.Progress progress)
            throws IOException {
        long total = segments.stream().flatMap(segment -> segment.content().stream()).mapToLong(Piece::size).sum();
        long done = 0;
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            for (Piece piece : segment.content()) {
                long place = layout.offsets()[i] + piece.start() - segment.start();
                for (long at = 0; at < piece.size(); at += BUFFER) {
                    MemorySegment part = buffer.asSlice(0, Math.min(BUFFER, piece.size() - at));
                    piece.source().read(piece.offset() + at, part);
                    file.write(place + at, part);
                    done += part.byteSize();
                    progress.read(done, total);
                }
            }
        }
    }
}
