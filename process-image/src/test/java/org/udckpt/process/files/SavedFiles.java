package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.process.check.ImageCheck;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;

/** A checkpoint of files alone, in this process's memory. */
final class SavedFiles {
    static final FileRequest OPEN = FileRequest.open();

    private final List<JobFile> rows;
    private final List<MemorySource> contents = new ArrayList<>();

    private SavedFiles(FileCut cut, Runnable meanwhile) {
        cut.cut();
        meanwhile.run();
        Arena arena = Arena.ofAuto();
        for (MemorySource source : cut.sources()) {
            contents.add(new Copy(source, arena));
        }
        rows = cut.rows();
        cut.verify();
    }

    static FileRequest named(String... patterns) {
        return new FileRequest(List.of(patterns).stream().map(PathPattern::of).toList(), List.of(), List.of(),
                java.util.Set.of(), OPEN.inStop(), OPEN.most(), new HotFiles(), false);
    }

    static FileRequest named(long inStop, String... patterns) {
        return new FileRequest(named(patterns).named(), List.of(), List.of(), java.util.Set.of(), inStop, OPEN.most(),
                new HotFiles(), false);
    }

    /** The stop has nothing else in it; then {@code meanwhile} happens, and then all is read. */
    static SavedFiles of(FileRequest request, Consumer<FileCut> stop, Runnable meanwhile) {
        return of(request, new Prefixes(request), stop, meanwhile);
    }

    static SavedFiles of(FileRequest request, Prefixes before, Consumer<FileCut> stop, Runnable meanwhile) {
        try (FileCut cut = new FileCut(request, new AtomicLong()::incrementAndGet, before)) {
            cut.openBy(new QuietFiles(new FileObservers(FileLeases.now())));
            stop.accept(cut);
            return new SavedFiles(cut, meanwhile);
        }
    }

    /** As a process has it open. */
    static Consumer<FileCut> open(java.nio.file.Path path, int flags) {
        return cut -> {
            String refusal = cut.opened(path.toString(), path.toString(), flags, Files.stat(path.toString()), null);
            if (refusal != null) {
                throw new FilesRefused(refusal);
            }
        };
    }

    List<JobFile> rows() {
        return rows;
    }

    JobFile.Cut cut(java.nio.file.Path path) {
        return rows.stream().filter(row -> row.path().equals(path.toString()))
                .map(row -> ((JobFile.RegularFile) row).cut()).findFirst().orElseThrow();
    }

    JobImage image() throws Exception {
        return new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null, null)
                .elsewhere(List.of(), List.of(), List.of(), List.of(), rows, List.of(), List.of());
    }

    List<MemorySource> contents() throws Exception {
        ImageCheck.check(image(), contents);
        return contents;
    }

    List<RolledBack> restore(boolean keep) throws Exception {
        RollbackRequest request = new RollbackRequest("ckpt-0001", keep, List.of(), "", new long[0], Set.of());
        Set<String> forecast = told(Forecast.of(image(), contents(), request));
        try (Rollback rollback = Rollback.prepare(image(), contents(), request)) {
            rollback.swap();
            rollback.commit();
            assertEquals(told(rollback.report()), forecast, "what would be done, and what was");
            return rollback.report();
        }
    }

    /** Of all but directories, which may have been made for what is in them. */
    private Set<String> told(List<RolledBack> report) {
        Set<String> directories = rows.stream().filter(JobFile.Directory.class::isInstance).map(JobFile::path)
                .collect(Collectors.toSet());
        return report.stream().filter(file -> !directories.contains(file.path()))
                .map(file -> file.path() + " " + file.what()).collect(Collectors.toCollection(TreeSet::new));
    }

    /** What an image holds of a file. */
    private static final class Copy implements MemorySource {
        private final long id;
        private final long[] extents;
        private final List<MemorySegment> bytes = new ArrayList<>();

        Copy(MemorySource source, Arena arena) {
            id = source.id();
            extents = source.extents();
            for (int i = 0; i < extents.length; i += 2) {
                MemorySegment part = arena.allocate(extents[i + 1] - extents[i], 4096);
                source.read(extents[i], part);
                bytes.add(part);
            }
        }

        @Override
        public long id() {
            return id;
        }

        @Override
        public boolean process() {
            return false;
        }

        @Override
        public long[] extents() {
            return extents;
        }

        @Override
        public void read(long offset, MemorySegment target) {
            for (int i = 0; i < extents.length; i += 2) {
                if (offset >= extents[i] && offset + target.byteSize() <= extents[i + 1]) {
                    MemorySegment.copy(bytes.get(i / 2), offset - extents[i], target, 0, target.byteSize());
                    return;
                }
            }
            throw new IllegalArgumentException("no extent has " + offset + " + " + target.byteSize());
        }
    }
}
