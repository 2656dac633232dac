package org.udckpt.process.files;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which files a checkpoint saves besides those that the job has open for writing, and what that may cost.
 *
 * @param named to be saved
 * @param except not to be saved, although open or named
 * @param foreign directories that are no part of the job, wherever they lie: checkpoints, the runtime directory
 * @param streams what the launcher's standard streams are, as "device:inode": they are not the job's to put back
 * @param inStop bytes that may be copied while the job stands still
 * @param most bytes that all files may have together
 * @param hot remembers from one checkpoint to the next
 * @param libraries the programs and libraries that the job maps are saved, too
 */
public record FileRequest(List<PathPattern> named, List<PathPattern> except, List<String> foreign, Set<String> streams,
        long inStop, long most, HotFiles hot, boolean libraries) {
    public static final long DEFAULT_IN_STOP = 64L << 20;
    public static final long DEFAULT_MOST = 64L << 30;

    /** Saves the files that are open for writing. */
    public static FileRequest open() {
        return new FileRequest(List.of(), List.of(), List.of(), Set.of(), DEFAULT_IN_STOP, DEFAULT_MOST,
                new HotFiles(), false);
    }

    /** The same, where the launcher has these standard streams. @param identities {device, inode} pairs */
    public FileRequest with(long[] identities) {
        return new FileRequest(named, except, foreign, keys(identities), inStop, most, hot, libraries);
    }

    static Set<String> keys(long[] identities) {
        Set<String> keys = new HashSet<>();
        for (int i = 0; i < identities.length; i += 2) {
            keys.add(identities[i] + ":" + identities[i + 1]);
        }
        return keys;
    }

    boolean isExcepted(String path) {
        return except.stream().anyMatch(pattern -> pattern.matches(path));
    }

    boolean isForeign(String path) {
        return foreign.stream().anyMatch(directory -> path.equals(directory) || path.startsWith(directory + "/"))
                || KeptName.isOne(path);
    }
}
