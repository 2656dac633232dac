package org.udckpt.process.files;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;

/**
 * Goes through all that a pattern matches, directories before what is in them, without following a symbolic link.
 * Directories of checkpoints are left out.
 */
final class FileTree {
    private static final int MOST_ENTRIES = 200_000;

    /** Hears of each match; {@code folder} is open only for the moment. */
    interface Visitor {
        /** @return whether to go on into a directory */
        boolean visit(Folder folder, String name, Files.Stat stat);
    }

    private final PathPattern pattern;
    private final QuietFiles quiet;
    private final Predicate<String> skipped;
    private final Visitor visitor;
    private final Consumer<String> unnamed;
    private int entries;

    private FileTree(PathPattern pattern, QuietFiles quiet, Predicate<String> skipped, Visitor visitor,
            Consumer<String> unnamed) {
        this.unnamed = unnamed;
        this.pattern = pattern;
        this.quiet = quiet;
        this.skipped = skipped;
        this.visitor = visitor;
    }

    /** @param skipped paths that are left out, with what is below them */
    static void walk(PathPattern pattern, Predicate<String> skipped, Visitor visitor) {
        walk(pattern, new QuietFiles(new FileObservers(FileLeases.now())), skipped, visitor, path -> {});
    }

    /**
     * @param quiet opens directories.
     * @param unnamed hears of what has no name in UTF-8, and thus none that this process could open
     */
    static void walk(PathPattern pattern, QuietFiles quiet, Predicate<String> skipped, Visitor visitor,
            Consumer<String> unnamed) {
        String root = pattern.root();
        int slash = root.lastIndexOf('/');
        try (Folder folder =
                root.equals("/") ? Folder.open("/") : Folder.hold(slash == 0 ? "/" : root.substring(0, slash))) {
            FileTree tree = new FileTree(pattern, quiet, skipped, visitor, unnamed);
            if (root.equals("/")) {
                folder.names().forEach(name -> tree.entry(folder, name));
            } else {
                tree.entry(folder, root.substring(slash + 1));
            }
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT || e.errno() == LinuxError.ENOTDIR) {
                return; // nothing matches yet
            }
            throw e.errno() != LinuxError.ELOOP ? e
                    : new FilesRefused("the files " + pattern + " are behind a symbolic link that did not exist when "
                            + "the job was started: " + e.getMessage());
        }
    }

    private void entry(Folder folder, String name) {
        String path = folder.below(name);
        if (skipped.test(path)) {
            return;
        }
        if (++entries > MOST_ENTRIES) {
            throw new FilesRefused("the files " + pattern + " are more than " + MOST_ENTRIES
                    + ": give only the directories that are needed, or exclude some with --files-except");
        }
        Files.Stat stat = folder.stat(name);
        if (stat == null && name.indexOf('\uFFFD') >= 0 && pattern.matches(path)) {
            unnamed.accept(path);
        }
        if (stat == null) {
            return; // somebody has removed it since the directory was read
        }
        if (stat.type() != Files.Stat.DIRECTORY) {
            if (pattern.matches(path)) {
                visitor.visit(folder, name, stat);
            }
        } else if (pattern.leadsFrom(path)) {
            try (Folder sub = quiet.sub(folder, name)) {
                List<String> names = sub.names();
                if (!holdsCheckpoints(names) && (!pattern.matches(path) || visitor.visit(folder, name, stat))) {
                    names.forEach(below -> entry(sub, below));
                }
            }
        }
    }

    /**
     * Whether a directory holds checkpoints of any job: these are no output of the job, and moving them would lose
     * them.
     */
    static boolean holdsCheckpoints(List<String> names) {
        return names.contains("sequence")
                && (names.contains("lock") || names.stream().anyMatch(name -> name.matches("ckpt-\\d{4,}")));
    }
}
