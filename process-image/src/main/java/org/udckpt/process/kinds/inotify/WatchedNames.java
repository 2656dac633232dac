package org.udckpt.process.kinds.inotify;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.udckpt.layout.Layout;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * Finds watched files by names that they may have, for users who may not open a file by its handle: names that the
 * preloaded library has noted (interposer_watches.c), those of files that the job has open, and those of their
 * directories; a file that was renamed, among the names in these directories. What is found is compared with the watch.
 */
final class WatchedNames {
    private static final String SYMBOL = "udckpt_watched_names";
    /** Of all directories, some 20,000 names: more are not looked through while the job stands. */
    private static final long MOST_BYTES = 640 << 10;
    /** Longer ones have no room behind /proc/PID/root. */
    private static final int LONGEST = 4000;

    /** Nothing is renamed there. */
    private static final Pattern OF_THE_KERNEL = Pattern.compile("/(proc|sys)(/.*)?");

    private final CaptureScope scope;
    private List<AskedProcess> processes = List.of();
    /** What the library has noted comes first. */
    private final Set<String> tried = new LinkedHashSet<>();
    /** By their files' inode numbers; null: nobody has asked yet. */
    private Map<Long, List<String>> known;
    private Map<Long, List<String>> beside;

    WatchedNames(CaptureScope scope) {
        this.scope = scope;
    }

    /** @param processes all of the job's here, in mounts of one namespace */
    void ask(List<AskedProcess> processes) {
        this.processes = processes;
    }

    /** The path of the file, without symbolic links; null: none was found. */
    String find(OpenDescriptor open, WatchedFile file) {
        String root = open.process().mounts();
        if (known == null) {
            known = new HashMap<>();
            collect();
            tried.forEach(name -> add(known, root, name));
        }
        String path = find(known, root, file);
        if (path != null) {
            return path;
        }
        if (beside == null) {
            beside = beside(root);
        }
        return find(beside, root, file);
    }

    /** The name of a descriptor of the job's, by which a file without any other name can be watched again; or null. */
    String ofDescriptor(WatchedFile file) {
        for (AskedProcess process : processes) {
            for (int fd : Proc.descriptors(process.task())) {
                Files.Stat stat = Files.tryStat("/proc/" + process.task() + "/fd/" + fd);
                if (stat != null && stat.links() == 0 && file.isAt("/proc/" + process.task() + "/fd/" + fd, true)) {
                    return new DescriptorName(process.namespacePid(), fd).path();
                }
            }
        }
        return null;
    }

    private static String find(Map<Long, List<String>> names, String root, WatchedFile file) {
        for (String name : names.getOrDefault(file.inode(), List.of())) {
            for (boolean follow : new boolean[]{true, false}) { // a link may be watched itself (IN_DONT_FOLLOW)
                String path = file.isAt(root + name, follow) ? withoutLinks(root + name, follow) : null;
                if (path != null) {
                    return path;
                }
            }
        }
        return null;
    }

    private static String withoutLinks(String path, boolean follow) {
        long file = Files.tryOpen(path, Syscall.O_PATH | Syscall.O_CLOEXEC | (follow ? 0 : Syscall.O_NOFOLLOW));
        if (file < 0) {
            return null;
        }
        try {
            return Files.stat((int) file).links() == 0 ? null : Files.readLink("/proc/self/fd/" + file);
        } finally {
            Files.close((int) file);
        }
    }

    private void collect() {
        processes.forEach(this::addNoted);
        for (AskedProcess process : processes) {
            tried.add(Files.readLink("/proc/" + process.task() + "/cwd"));
            for (int fd : Proc.descriptors(process.task())) {
                tried.add(Files.readLink("/proc/" + process.task() + "/fd/" + fd));
            }
        }
        tried.removeIf(name -> name == null || !name.startsWith("/") || name.length() > LONGEST);
        for (String name : List.copyOf(tried)) {
            tried.add(directory(name));
        }
    }

    private static String directory(String name) {
        return name.substring(0, Math.max(1, name.lastIndexOf('/')));
    }

    private void addNoted(AskedProcess process) {
        long address = process.libraryData(SYMBOL, Layout.WatchedNames.SIZE);
        if (address == 0) {
            return;
        }
        int used = ByteBuffer.wrap(process.read(address, Layout.WatchedNames.TEXT)).order(ByteOrder.LITTLE_ENDIAN)
                .getInt(Layout.WatchedNames.USED);
        byte[] text = process.read(address + Layout.WatchedNames.TEXT,
                Math.clamp(used, 0, Layout.WatchedNames.SIZE - Layout.WatchedNames.TEXT));
        for (int at = 0, end; at < text.length; at = end + 1) {
            for (end = at; end < text.length && text[end] != 0;) {
                end++;
            }
            tried.add(RawText.decode(text, at, end - at));
        }
    }

    private Map<Long, List<String>> beside(String root) {
        Map<Long, List<String>> found = new HashMap<>();
        long left = MOST_BYTES;
        for (String directory : tried) {
            try (Folder folder = listed(root, directory)) {
                long size = folder == null ? 0 : folder.stat().size();
                if (folder != null && size <= left) {
                    left -= size;
                    folder.names().forEach(name -> add(found, root, folder.below(name)));
                }
            }
        }
        return found;
    }

    /** Null: it is no directory that can be listed without the job's noticing. */
    private Folder listed(String root, String directory) {
        Files.Stat stat = Files.tryStat(root + directory);
        if (stat == null || stat.type() != Files.Stat.DIRECTORY || OF_THE_KERNEL.matcher(directory).matches()) {
            return null;
        }
        try {
            long opened = scope.quiet().tryOpen(root + directory, directory);
            return opened < 0 ? null : Folder.of(directory, (int) opened);
        } catch (FilesRefused watched) {
            return null; // by the job, which would get an event: there the library's notes have to do
        }
    }

    private static void add(Map<Long, List<String>> to, String root, String name) {
        Files.Stat itself = Files.tryLinkStat(root + name);
        Files.Stat leadsTo = itself != null && itself.type() == Files.Stat.LINK ? Files.tryStat(root + name) : null;
        for (Files.Stat stat : new Files.Stat[]{itself, leadsTo}) {
            if (stat != null) {
                to.computeIfAbsent(stat.inode(), _ -> new ArrayList<>()).add(name);
            }
        }
    }
}
