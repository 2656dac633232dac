package org.udckpt.process.capture;

import java.nio.file.Path;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.tracking.WriteTracking;

/**
 * What to capture together. Pids are as the agent numbers them.
 *
 * @param streams what the launcher's standard streams are: descriptors of the job with the same identity are those
 * @param closesOutside connections to processes outside of the job are closed in the image; else the capture is refused
 * @param files which of the job's files are captured with it
 * @param leases that there were a moment before
 * @param calls what earlier captures of the same incarnation have seen
 * @param tracking of the job's processes
 * @param shepherd udckpt-shepherd, which also does what must not end with this process
 */
public record CaptureRequest(List<Root> roots, StandardStreams streams, boolean closesOutside, FileRequest files,
        FileLeases leases, TimedCalls calls, WriteTracking tracking, Path shepherd) {
    /**
     * Saves the files that are open for writing, and is refused if there are connections to the outside; the native
     * parts are where the property {@code udckpt.native} says.
     */
    public CaptureRequest(List<Root> roots, StandardStreams streams) {
        this(roots, streams, false, FileRequest.open(), FileLeases.now(), new TimedCalls(), WriteTracking.OFF,
                Path.of(System.getProperty("udckpt.native", ""), "udckpt-shepherd"));
    }

    public static final int NONE = -1;

    /**
     * A rank's first process; its whole tree is captured with it.
     *
     * @param ownedDescriptors those that the library or its device holds; they are not captured
     * @param ownedRanges {start, end} pairs of the library's shared mappings; they are not captured
     * @param controlDescriptor of the library's control connection, or NONE
     * @param pmiDescriptor of the connection to the process manager, or NONE: the variable PMI_FD of its environment
     *     says it
     * @param descendants the library in other processes of the tree (a script's program)
     * @param tree its processes are no ranks only for being below it (a launcher): errors call them by pid and program
     */
    public record Root(int rank, int pid, int[] ownedDescriptors, long[] ownedRanges, int controlDescriptor,
            int pmiDescriptor,
            List<Library> descendants, boolean tree) {
        public Root(int rank, int pid) {
            this(rank, pid, new int[0], new long[0], NONE, NONE);
        }

        public Root(int rank, int pid, int[] ownedDescriptors, long[] ownedRanges, int controlDescriptor,
                int pmiDescriptor) {
            this(rank, pid, ownedDescriptors, ownedRanges, controlDescriptor, pmiDescriptor, List.of(), false);
        }

        /** What the agent was told of the library in a process of the tree; null: nothing. */
        Library library(TracedProcess process) {
            if (process.root()) {
                return new Library(process.namespacePid, ownedDescriptors, ownedRanges, controlDescriptor);
            }
            return descendants.stream().filter(library -> library.namespacePid() == process.namespacePid).findFirst()
                    .orElse(null);
        }
    }

    /** The library in one process, by its pid in its own namespace; the rest as in {@link Root}. */
    public record Library(int namespacePid, int[] ownedDescriptors, long[] ownedRanges, int controlDescriptor) {}

    /** {device, inode} of streams 0, 1 and 2; all -1: there is none to recognise. */
    public record StandardStreams(long[] identities) {
        public static final StandardStreams NONE = new StandardStreams(new long[]{-1, -1, -1, -1, -1, -1});

        /** The streams of a process, for example of the agent itself or of the shepherd. */
        public static StandardStreams of(int pid) {
            long[] identities = new long[6];
            for (int stream = 0; stream < 3; stream++) {
                String link = Files.readLink("/proc/" + pid + "/fd/" + stream);
                boolean plain = link == null || link.equals("/dev/null");
                Files.Stat stat = plain ? null : Files.stat("/proc/" + pid + "/fd/" + stream);
                identities[2 * stream] = plain ? -1 : stat.device();
                identities[2 * stream + 1] = plain ? -1 : stat.inode();
            }
            return new StandardStreams(identities);
        }

        /** The stream that an object is, or -1. Where several are the same object, {@code descriptor} decides. */
        int match(int descriptor, Files.Stat stat) {
            if (descriptor <= 2 && matches(descriptor, stat)) {
                return descriptor;
            }
            for (int stream = 0; stream < 3; stream++) {
                if (matches(stream, stat)) {
                    return stream;
                }
            }
            return -1;
        }

        private boolean matches(int stream, Files.Stat stat) {
            return identities[2 * stream] == stat.device() && identities[2 * stream + 1] == stat.inode();
        }
    }
}
