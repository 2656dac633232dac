package org.udckpt.lifecycle.checkpoint;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.agent.RankTable;
import org.udckpt.launch.LaunchMode;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;

/** What the capture must know of each rank: its first process, and what in it belongs to the library. */
final class RankRoots {
    private RankRoots() {}

    static List<CaptureRequest.Root> of(LaunchMode launch, List<RankTable.Rank> ranks,
            Map<LibraryConnection, Message.Quiesced> owned) {
        Map<Integer, CaptureRequest.Library> libraries = new LinkedHashMap<>();
        owned.forEach((connection, quiesced) -> libraries.put(connection.pid(), library(connection, quiesced)));
        List<CaptureRequest.Root> roots = new ArrayList<>();
        for (RankTable.Rank rank : ranks) {
            int inside = namespacePid(rank);
            CaptureRequest.Library own = libraries.getOrDefault(inside,
                    new CaptureRequest.Library(inside, new int[0], new long[0], CaptureRequest.NONE));
            // or another rank's: no two processes of the job have one pid
            List<CaptureRequest.Library> descendants =
                    libraries.values().stream().filter(library -> library.namespacePid() != inside).toList();
            roots.add(new CaptureRequest.Root(rank.rank(), rank.hostPid(), own.ownedDescriptors(), own.ownedRanges(),
                    own.controlDescriptor(),
                    CaptureRequest.NONE, descendants, launch != LaunchMode.RANKS));
        }
        return roots;
    }

    private static CaptureRequest.Library library(LibraryConnection connection, Message.Quiesced quiesced) {
        return new CaptureRequest.Library(connection.pid(), descriptors(connection, quiesced), ranges(quiesced),
                connection.descriptor());
    }

    /** The control connection is not left out: it is restored as a new one. */
    private static int[] descriptors(LibraryConnection connection, Message.Quiesced quiesced) {
        return quiesced.descriptors().stream().mapToInt(Integer::intValue).filter(fd -> fd != connection.descriptor())
                .toArray();
    }

    private static long[] ranges(Message.Quiesced quiesced) {
        long[] ranges = new long[2 * quiesced.ranges().size()];
        for (int i = 0; i < quiesced.ranges().size(); i++) {
            ranges[2 * i] = quiesced.ranges().get(i).start();
            ranges[2 * i + 1] = quiesced.ranges().get(i).end();
        }
        return ranges;
    }

    /** A process's pid in its innermost namespace: the last number of NSpid (proc_pid_status(5)). */
    private static int namespacePid(RankTable.Rank rank) {
        try {
            String pids = Proc.field(Proc.text("/proc/" + rank.hostPid() + "/status"), "NSpid:");
            if (pids == null) {
                throw new Failure(ExitCode.UNSUPPORTED, "/proc/" + rank.hostPid()
                        + "/status has no NSpid: the kernel is too old");
            }
            String[] numbers = pids.split("\\s+");
            return Integer.parseInt(numbers[numbers.length - 1]);
        } catch (LinuxError e) {
            throw new Failure(ExitCode.BUSY,
                    "rank " + rank.rank() + " (process " + rank.hostPid() + ") ended before it could be checkpointed",
                    e);
        }
    }
}
