package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.process.files.FileCut;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.identity.IdentityReader;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.identity.Libraries;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.Region;

/** A job's files in a capture: those whose content is in the image, and what the others are. */
final class CapturedFiles implements AutoCloseable {
    /** A library's tables (gconv, locales); a data file that is mapped so may be of any size. */
    private static final long SHARED_LIBRARY = 16L << 20;

    private final FileCut cut;
    private final boolean withLibraries;
    private final List<RankCapture> ranks;
    private Libraries libraries = Libraries.NONE;

    /** @param withLibraries programs and libraries, too */
    CapturedFiles(FileCut cut, boolean withLibraries, List<RankCapture> ranks) {
        this.cut = cut;
        this.withLibraries = withLibraries;
        this.ranks = ranks;
    }

    List<JobFile> rows() {
        return cut.rows();
    }

    /** {@link MappedFiles#add}. */
    List<KernelObject> withMapped(List<KernelObject> objects, List<JobFile> files, List<Region> regions,
            MountViews views, long lastId) {
        return MappedFiles.add(objects, files, regions, views, lastId, withLibraries ? SHARED_LIBRARY : 0);
    }

    /** @see IdentityReader */
    List<FileIdentity> identities(JobImage image, KnownFiles known) {
        return IdentityReader.read(image, mappedInodes(image), known);
    }

    /** One for each file whose content is in the image, and that is not empty. */
    List<MemorySource> sources(JobImage image) {
        List<MemorySource> sources = new ArrayList<>(cut.sources());
        if (withLibraries) {
            libraries = Libraries.open(image, mappedInodes(image));
            sources.addAll(libraries.sources());
        }
        return sources;
    }

    Libraries libraries() {
        return libraries;
    }

    private Map<String, Long> mappedInodes(JobImage image) {
        Map<String, Long> inodes = new HashMap<>();
        MountViews views = MountViews.of(image);
        for (RankCapture rank : ranks) {
            for (TracedProcess process : rank.processes()) {
                for (Mapping mapping : process.mappings) {
                    String path = mapping.file() && !mapping.deleted()
                            ? views.outside(process.namespacePid, mapping.path()) : null;
                    if (path != null) {
                        inodes.put(path, mapping.inode());
                    }
                }
            }
        }
        return inodes;
    }

    /** @throws FileTorn a file was not what it had been in the stop when it was read */
    void verify() {
        cut.verify();
        libraries.verify();
    }

    @Override
    public void close() {
        cut.close();
        libraries.close();
    }
}
