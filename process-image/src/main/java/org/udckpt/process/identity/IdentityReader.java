package org.udckpt.process.identity;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.udckpt.linux.FoundFile;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PathWriters;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.FileIdentity.Use;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MountViews;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.Region;

/**
 * Tells which files a captured job maps and reads, while it runs again: {@link FileIdentity}. Files are found by their
 * names, and are the job's where the inode is that of the stop.
 */
public final class IdentityReader {
    private static final int ACCESS = 3;
    private static final String HUGE_PAGES = "/anon_hugepage";

    private final JobImage image;
    private final Map<String, Long> mappedInodes;
    private final KnownFiles known;
    private final Map<String, OpenFile> read = new HashMap<>();
    private final Set<String> written = new HashSet<>();
    private final Set<String> saved = new HashSet<>();
    private final ReadHindrances hindrances;

    private IdentityReader(JobImage image, Map<String, Long> mappedInodes, KnownFiles known) {
        this.image = image;
        this.mappedInodes = mappedInodes;
        this.known = known;
        this.hindrances = new ReadHindrances(image);
        image.files().stream().filter(JobFile.RegularFile.class::isInstance).map(JobFile::path).forEach(saved::add);
    }

    /** The boot of this kernel (random(4)). */
    public static String boot() {
        return Proc.text("/proc/sys/kernel/random/boot_id").strip();
    }

    /** @param mappedInodes of each path that was mapped at the stop */
    public static List<FileIdentity> read(JobImage image, Map<String, Long> mappedInodes, KnownFiles known) {
        List<FileIdentity> rows = new IdentityReader(image, mappedInodes, known).read();
        known.keepUsed();
        return rows;
    }

    private List<FileIdentity> read() {
        List<FileIdentity> rows = new ArrayList<>();
        String boot = boot();
        try (PathWriters paths = new PathWriters()) {
            uses().forEach((path, use) -> {
                try (FoundFile file = paths.find(path)) {
                    if (file.regular()) {
                        rows.add(identity(file, use, boot));
                    }
                } catch (LinuxError gone) {
                    if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ENOTDIR) {
                        // else: removed since the stop, and a restart misses it by name
                        throw gone;
                    }
                }
            });
        }
        return rows;
    }

    private Map<String, Use> uses() {
        Map<String, Use> uses = new TreeMap<>();
        MountViews views = MountViews.of(image);
        Set<String> nameless = image.regions().stream().filter(region -> region.backing() != 0).map(Region::path)
                .collect(Collectors.toSet());
        image.processes().stream()
                .filter(one -> one.executable().startsWith("/") && !nameless.contains(one.executable()))
                .map(one -> views.outside(one.pid(), one.executable())).filter(Objects::nonNull)
                .forEach(path -> uses.put(path, Use.PROGRAM));
        image.processes().stream()
                .filter(one -> one.executable().startsWith("/") && !nameless.contains(one.executable()))
                .forEach(one -> layer(views, one.pid(), one.executable(), uses));
        for (Region region : image.regions()) {
            boolean named = region.backing() == 0 && region.path().startsWith("/")
                    && !region.path().equals(HUGE_PAGES);
            String path = named ? views.outside(region.pid(), region.path()) : null;
            if (named && path == null) {
                layer(views, region.pid(), region.path(), uses);
            } else if (path != null) {
                if (!region.shared() || region.permissions().charAt(2) == 'x') {
                    uses.put(path, Use.PROGRAM);
                } else if (!region.writable() && !(" " + region.vmFlags() + " ").contains(" mw ")) {
                    // else it is the job that writes to it
                    uses.putIfAbsent(path, Use.SHARED);
                }
            }
        }
        for (var object : image.objects()) {
            String path = object instanceof OpenFile file && file.backing() == 0
                    ? views.outsideOf(file.id(), file.path()) : null;
            if (path != null) {
                OpenFile file = (OpenFile) object;
                if ((file.flags() & ACCESS) == Syscall.O_RDONLY) {
                    read.put(path, file);
                } else {
                    written.add(path);
                }
            }
        }
        read.keySet().stream().filter(path -> !written.contains(path) && !saved.contains(path))
                .forEach(path -> uses.putIfAbsent(path, Use.READ));
        return uses;
    }

    /** What an overlay of the job's own shows of a directory that is not the job's. */
    private static void layer(MountViews views, int pid, String path, Map<String, Use> uses) {
        String layer = views.inLayer(pid, path);
        if (layer != null) {
            uses.put(layer, Use.PROGRAM);
        }
    }

    private FileIdentity identity(FoundFile file, Use use, String boot) {
        var stat = file.stat();
        KnownFiles.Known what = isOfTheStop(file, use) ? known.of(file, wanted(file, use), () -> hindrances.of(file))
                : KnownFiles.unread(file, "its name referred to another file when the checkpoint was taken");
        ContentDigest digest = what.digest();
        return new FileIdentity(file.path(), use, stat.size(), stat.modified(), what.sealed() ? stat.changed() : 0,
                what.bornNs(), stat.device(), stat.inode(), stat.mode() & 07777,
                stat.uid(), stat.gid(), boot, file.writers().text(), file.own().text(),
                digest == null ? "" : digest.buildId(), digest == null ? null : digest.sha256(),
                digest != null ? "" : what.undigested().isEmpty() ? "none was needed" : what.undigested());
    }

    /** What a restart will compare: see {@code VerifiedFiles}. */
    private boolean wanted(FoundFile file, Use use) {
        boolean exchangeable = !file.writers().beside(file.own().text()).nobody();
        return switch (use) {
            case PROGRAM -> !saved.contains(file.path()) || !file.writers().nobody() && !written.contains(file.path());
            case SHARED -> exchangeable || !variable(file);
            case READ -> exchangeable;
        };
    }

    /**
     * Data of a service that changes while programs have it mapped (sssd, nscd), where the Filesystem Hierarchy
     * Standard has such.
     */
    private static boolean variable(FoundFile file) {
        boolean own = file.stat().uid() == User.id() && User.id() != 0;
        return !own && (file.path().startsWith("/var/") || file.path().startsWith("/run/"));
    }

    /** Its name may have been given to another one since. */
    private boolean isOfTheStop(FoundFile file, Use use) {
        if (use == Use.READ) {
            OpenFile open = read.get(file.path());
            return file.stat().inode() == open.inode() && file.stat().device() == open.device();
        }
        // the device is not told by maps as by stat(2): Btrfs, overlayfs
        return mappedInodes.getOrDefault(file.path(), file.stat().inode()) == file.stat().inode();
    }
}
