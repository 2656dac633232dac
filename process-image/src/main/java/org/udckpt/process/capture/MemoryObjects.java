package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FileCut;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.aio.AioContext;
import org.udckpt.process.kinds.base.IpcObject;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.iouring.IoUring;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.trace.Injector;

/**
 * File-like objects whose contents belong to the image as memory does: shared memory and deleted files. Known by device
 * and inode, so that mappings and descriptors of all ranks meet in one object. Copied during the stop. Files on disk go
 * to the {@link FileCut}.
 */
final class MemoryObjects {
    /** Of which the kernel takes the name for shared memory that has none (mmap(2), MAP_ANONYMOUS). */
    static final String ZERO_DEVICE = "/dev/zero";
    private static final String SHARED_MEMORY = "/dev/shm/"; // shm_open(3)
    private static final long HUGETLBFS = 0x9584_58f6L, MQUEUE = 0x1980_0202;
    private static final String DELETED = " (deleted)";
    private static final String OTHER_NAME = " still has another name (link(2)), which a restart would not find; keep "
            + "the name under which it was opened";
    private static final int F_GET_SEALS = 1034, IPC_STAT = 2, OWNER_WRITES = 0200, SHM_DEST = 01000, ATTACHED = 88;

    /**
     * ipc_perm and size of a SysV segment, read by shmctl in a process that has it.
     *
     * @param attached how often it is mapped, as the kernel counts
     */
    private record Segment(int key, int uid, int gid, int mode, long size, long attached) {}

    private final ObjectTable table;
    private final FileCut files;
    private final Map<String, Long> ids = new HashMap<>();
    /** By {@link #key(TracedProcess, Mapping)}. */
    private final Map<String, Segment> segments = new HashMap<>();
    private final List<ContentCopy> copies = new ArrayList<>();
    private final OtherNames otherNames = new OtherNames();
    /** By their keys, for files that the job has open for reading. */
    private final Map<String, OpenDescriptor> readable = new HashMap<>();
    private QuietFiles quiet;
    private List<TracedProcess> processes;

    MemoryObjects(ObjectTable table, FileCut files) {
        this.table = table;
        this.files = files;
    }

    List<ContentCopy> copies() {
        return copies;
    }

    /** Before {@link #ofFile} and {@link #ofMapping}. @param stopped all of the job's processes */
    void openBy(QuietFiles opener, List<TracedProcess> stopped) {
        quiet = opener;
        processes = stopped;
    }

    /** Each descriptor, before the first file is opened. */
    void seen(OpenDescriptor open) {
        if (open.stat().type() == Files.Stat.REGULAR && (open.flags() & (Syscall.O_PATH | Syscall.O_WRONLY)) == 0) {
            readable.putIfAbsent(key(open.stat()), open);
        }
    }

    /** One that is not open any more. */
    void gone(OpenDescriptor closed) {
        readable.remove(key(closed.stat()), closed);
    }

    /** On the tracer thread of {@code process}, after {@link ProcessReader#ask}: what only the process can ask. */
    synchronized void readSegments(TracedProcess process) {
        Injector injector = process.main().injector;
        long results = Parasite.results(process.main().frame);
        for (Mapping mapping : process.mappings) {
            if (sysv(mapping)) {
                // the link of a mapping has the access with which its file is open (proc_pid_map_files(5))
                Files.Stat link = Files.tryLinkStat(link(process, mapping));
                if (link != null && (link.mode() & OWNER_WRITES) != 0) {
                    process.writableSegments.add(mapping.start());
                }
                if (injector.call(Syscall.SHMCTL, mapping.inode(), IPC_STAT, results) < 0) {
                    throw fromElsewhere(process, mapping);
                }
                MemorySegment stat = Scratch.data().asSlice(0, ATTACHED + 8); // shmid64_ds, asm-generic/shmbuf.h
                process.memory.read(results, stat);
                if (segments.isEmpty()) {
                    IpcObject.requireNextId(process, "System V shared memory", "shm_next_id");
                }
                segments.put(key(process, mapping),
                        new Segment(stat.get(JAVA_INT, 0), stat.get(JAVA_INT, 4), stat.get(JAVA_INT, 8),
                                stat.get(JAVA_INT, 20) & (SHM_DEST | 0777), stat.get(JAVA_LONG, 48),
                                stat.get(JAVA_LONG, ATTACHED)));
            }
        }
    }

    /** Segments of different IPC namespaces may have one number, and one inode number with it. */
    private static String key(TracedProcess process, Mapping mapping) {
        String file = mapping.device() + ":" + mapping.inode();
        return sysv(mapping) && process.ipcNamespace != 0 ? file + ":" + process.ipcNamespace : file;
    }

    private static RuntimeException fromElsewhere(TracedProcess process, Mapping mapping) {
        return process.refuse(("it has System V segment %d attached, at 0x%x, which is not of the IPC namespace that it"
                + " is in now (unshare(2), setns(2)), and cannot be checkpointed; detach it (shmdt(2))")
                .formatted(mapping.inode(), mapping.start()));
    }

    /** What the kernel counts, all processes of a namespace of the job's own must have mapped, or it is another's. */
    private void refuseElsewhere(TracedProcess process, Mapping mapping, Segment segment) {
        if (process.ipcNamespace == 0) {
            return;
        }
        String key = key(process, mapping);
        long count = processes.stream().mapToLong(other -> other.ownMappings().stream()
                .filter(one -> sysv(one) && key(other, one).equals(key)).count()).sum();
        if (count != segment.attached) {
            throw fromElsewhere(process, mapping);
        }
    }

    /** The content of a file on a file system of the job's own. */
    long addMounted(String path, Files.Stat stat, int fd) {
        return add(key(stat), MemoryKind.MOUNTED_FILE, path, stat, 0, 0, 0, fd);
    }

    /** The object behind an open regular file, or 0 when it is to be found by its path again. */
    long ofFile(OpenDescriptor open) {
        if (open.process().ownsFileSystem(open.stat(), open.proc()) && open.stat().links() > 0) {
            return 0;
        }
        MemoryKind kind = kind(open);
        if (kind == null || kind == MemoryKind.DISK_FILE) {
            String refusal = kind == null ? null
                    : files.opened(open.process().outside(nameOnDisk(open)), open.proc(), open.flags(), open.stat(),
                            readable(open));
            if (refusal != null) {
                throw open.refuse(refusal);
            }
            return 0;
        }
        Files.Stat stat = open.stat();
        String key = key(stat);
        Long known = ids.get(key);
        if (known != null) {
            return known;
        }
        long opened = quiet.tryOpen(open.proc(), open.link());
        if (opened == -LinuxError.EACCES) {
            throw open.refuse(open.link()
                    + " is open, and its mode (%o) does not let its contents be saved; permit reading (chmod u+r)"
                            .formatted(stat.mode() & 07777));
        }
        int file = (int) LinuxError.check(opened, "open " + open.link());
        try {
            long seals = kind == MemoryKind.MEMFD ? Syscall.call(Syscall.FCNTL, file, F_GET_SEALS) : 0;
            return add(key, kind, kind == MemoryKind.NAMED_FILE ? nameOnDisk(open) : open.name(), stat, 0, 0,
                    (int) Math.max(0, seals), file);
        } finally {
            Files.close(file);
        }
    }

    private FileCut.Readable readable(OpenDescriptor open) {
        OpenDescriptor reader = readable.get(key(open.stat()));
        return reader == null ? null : new FileCut.Readable(reader.process().task(), reader.fd());
    }

    /** The name under which a file is found: that by which it was opened, unless only another one is left. */
    String nameOnDisk(OpenDescriptor open) {
        boolean other = open.link().endsWith(DELETED) && open.stat().links() > 0;
        return other ? otherNames.of(quiet, open.process(), open.name(), key(open.stat()), MemoryObjects::key)
                : open.stat().links() > 0 ? open.link() : open.name();
    }

    private MemoryKind kind(OpenDescriptor open) {
        LinuxError.check(Syscall.call(Syscall.STATFS, Scratch.string(open.proc()), Scratch.data().address()),
                "statfs " + open.link());
        long type = Scratch.data().get(JAVA_LONG, 0);
        if (open.link().startsWith("/memfd:")) {
            if (type == HUGETLBFS) {
                throw open.refuse(open.link()
                        + " is in huge pages (MFD_HUGETLB), which cannot be checkpointed; use transparent huge pages "
                        + "(madvise MADV_HUGEPAGE)");
            }
            return MemoryKind.MEMFD;
        }
        if (type == MQUEUE) { // with a name or without
            throw open.refuse("POSIX message queue " + open.link() + " cannot be checkpointed; close it first");
        }
        if (open.link().equals(MappingCheck.SECRET + DELETED)) {
            throw open.refuse("memory of memfd_secret(2) cannot be read from outside, so it cannot be checkpointed; "
                    + "close it first");
        }
        if (open.link().equals(ZERO_DEVICE + DELETED)) { // a regular file: opened by the link of its mapping
            return MemoryKind.ANONYMOUS;
        }
        if (open.link().endsWith(DELETED) && open.stat().links() == 0) {
            refuseOtherMount(open);
            return MemoryKind.DELETED_FILE;
        }
        String name = nameOnDisk(open);
        if (name == null) {
            throw open.refuse(open.link() + OTHER_NAME);
        }
        if (type == HUGETLBFS || name.startsWith(SHARED_MEMORY)) {
            return open.writable() || mayWrite(open.proc()) ? MemoryKind.NAMED_FILE : null;
        }
        return open.writable() ? MemoryKind.DISK_FILE : null;
    }

    /** In a mount namespace of the job's own, a restart makes it again in the directory where it was. */
    private static void refuseOtherMount(OpenDescriptor open) {
        TracedProcess process = ThreadTable.of(open.process());
        if (process != null && process.mountNamespace != null) {
            String directory = open.name().substring(0, Math.max(1, open.name().lastIndexOf('/')));
            String why = process.mountNamespace.notMadeOn((int) open.number("mnt_id:", 10), process.seen(directory));
            if (why != null) {
                throw open.refuse(open.link() + " " + why + ", so a restart could not make it again; close it first");
            }
        }
    }

    /** Another user's file is not the job's to put back: it has to be there unchanged, as a file on disk. */
    private static boolean mayWrite(String path) {
        return Syscall.call(Syscall.FACCESSAT, -100, Scratch.string(path), 2 /* W_OK */) == 0;
    }

    /** What is mapped of this file is a kind's, which restores its content. */
    void mapped(Files.Stat stat, long object) {
        mapped(key(stat), object);
    }

    /** @param file its key: device and inode */
    void mapped(String file, long object) {
        ids.put(file, object);
    }

    /** The object behind a mapping, or 0: private memory over a file that still has its name, or over nothing. */
    long ofMapping(TracedProcess process, Mapping mapping) {
        if (mapping.path().equals(AioContext.PATH)) {
            return ids.getOrDefault(mapping.device() + ":" + mapping.inode(), 0L);
        }
        if (mapping.path().equals(IoUring.LINK)) {
            Long ring = ids.get(mapping.device() + ":" + mapping.inode());
            if (mapping.offset() % IoUring.MAPPED_AT != 0) {
                throw process.refuse("it has changed or unmapped a part of an io_uring's memory, before 0x%x, which "
                        .formatted(mapping.start()) + "cannot be checkpointed; map it as a whole");
            }
            if (ring == null) {
                throw process
                        .refuse("it has memory of an io_uring mapped, at 0x%x, of which neither itself nor a process "
                                .formatted(mapping.start())
                                + "before it has a descriptor, and which cannot be checkpointed; "
                                + "keep the descriptor open");
            }
            return ring;
        }
        if (mapping.file() && process.mountNamespace != null && MappedInNamespace.isOwn(process, mapping)) {
            return 0;
        }
        if (!mapping.file() || mapping.path().startsWith("[")
                || !mapping.shared() && (!mapping.deleted() || mapping.path().equals("/anon_hugepage"))) {
            return 0;
        }
        if (mapping.path().equals("/anon_hugepage")) {
            throw process.refuse(
                    ("shared memory in huge pages (MAP_SHARED | MAP_HUGETLB) at 0x%x cannot be checkpointed; use "
                            + "transparent huge pages (madvise MADV_HUGEPAGE)")
                            .formatted(mapping.start()));
        }
        boolean readOnlyFile = mapping.shared() && !mapping.writable() && !mapping.deleted()
                && !(mapping.path().startsWith(SHARED_MEMORY) && mayWrite(mapping.path()));
        Long known = ids.get(key(process, mapping));
        if (known != null || readOnlyFile) {
            return known == null ? 0 : known;
        }
        return addMapped(process, mapping);
    }

    private long addMapped(TracedProcess process, Mapping mapping) {
        String key = key(process, mapping);
        MemoryKind kind = sysv(mapping) ? MemoryKind.SYSV : mapping.path().startsWith("/memfd:") ? MemoryKind.MEMFD
                : mapping.path().equals(ZERO_DEVICE) ? MemoryKind.ANONYMOUS : mapping.deleted()
                        ? MemoryKind.DELETED_FILE
                        : mapping.path().startsWith(SHARED_MEMORY) ? MemoryKind.NAMED_FILE : MemoryKind.DISK_FILE;
        if (kind == MemoryKind.DISK_FILE && mapping.writable() && files.leaves(mapping.path())) {
            return 0;
        }
        if (kind == MemoryKind.DISK_FILE && mapping.writable()) {
            long id = table.newId();
            if (files.mapped(mapping.path(), mapping.inode(), id)) {
                return addSaved(mapping, key, id);
            }
        }
        refuseOtherName(process, mapping, kind, key);
        String path = link(process, mapping);
        long file = quiet.tryOpen(path, mapping.path());
        if ((file == -LinuxError.EPERM || file == -LinuxError.EACCES) && process.programDeleted) {
            file = openProgram(process, mapping, file);
        }
        if (file == -LinuxError.EPERM || file == -LinuxError.EACCES) { // needs CAP_CHECKPOINT_RESTORE
            return addFromMemory(process, mapping, key, kind);
        }
        LinuxError.check(file, "open " + path);
        try {
            Files.Stat stat = Files.stat((int) file);
            if (kind == MemoryKind.DELETED_FILE && mapping.shared() && stat.links() > 0) {
                throw process.refuse("it has mapped " + mapping.path() + DELETED + ", which" + OTHER_NAME);
            }
            Segment segment = segments.get(key);
            if (kind == MemoryKind.SYSV) {
                refuseElsewhere(process, mapping, segment);
                stat = new Files.Stat(stat.device(), stat.inode(), stat.links(), segment.mode, segment.uid, segment.gid,
                        0, segment.size, 0, 0);
            }
            int seals = kind == MemoryKind.MEMFD ? (int) Syscall.call(Syscall.FCNTL, file, F_GET_SEALS) : 0;
            return add(key, kind, mapping.path(), stat, segment != null && kind == MemoryKind.SYSV ? segment.key : 0,
                    kind == MemoryKind.SYSV ? (int) mapping.inode() : 0, seals, (int) file);
        } finally {
            Files.close((int) file);
        }
    }

    /** By the link that its user may open, where it is the process's program; else {@code refused}. */
    private long openProgram(TracedProcess process, Mapping mapping, long refused) {
        String program = "/proc/" + process.task() + "/exe";
        Files.Stat stat = Files.tryStat(program);
        return stat != null && isOf(mapping, stat) ? quiet.tryOpen(program, mapping.path()) : refused;
    }

    /** Whether memory is mapped of this file. */
    static boolean isOf(Mapping mapping, Files.Stat stat) {
        return key(stat).equals(mapping.device() + ":" + mapping.inode());
    }

    /** What the mapping is of, for who may take that (proc_pid_map_files(5)). */
    static String link(TracedProcess process, Mapping mapping) {
        return "/proc/%d/map_files/%x-%x".formatted(process.task(), mapping.start(), mapping.end());
    }

    /** What is written to a shared mapping of a file is seen under its other name, and has to be after a restart. */
    private void refuseOtherName(TracedProcess process, Mapping mapping, MemoryKind kind, String key) {
        if (kind == MemoryKind.DELETED_FILE && mapping.shared()
                && otherNames.of(quiet, process, mapping.path(), key, MemoryObjects::key) != null) {
            throw process.refuse("it has mapped " + mapping.path() + DELETED + ", which" + OTHER_NAME);
        }
    }

    /** A file whose content the cut holds. */
    private long addSaved(Mapping mapping, String key, long id) {
        Files.Stat stat = Files.stat(mapping.path());
        ids.put(key, id);
        table.add(new SharedMemory(id, MemoryKind.DISK_FILE, mapping.path(), stat.size(), stat.mode() & 07777,
                stat.uid(), stat.gid(), 0, 0, 0));
        return id;
    }

    /** Without the right to open the object itself: as much of it as the job has mapped. */
    private long addFromMemory(TracedProcess process, Mapping mapping, String key, MemoryKind kind) {
        Segment segment = kind == MemoryKind.SYSV ? segments.get(key) : null;
        if (segment != null) {
            refuseElsewhere(process, mapping, segment);
        }
        long id = table.newId();
        ContentCopy copy = new ContentCopy(id, false);
        MappedContents contents = MappedContents.of(segment == null ? processes
                : processes.stream().filter(one -> one.ipcNamespace == process.ipcNamespace).toList(), mapping);
        if (segment != null && !contents.covers(segment.size)) {
            throw process.refuse(("System V segment %d is mapped in part (munmap(2)), and an ordinary user cannot read "
                    + "the rest; attach all of it in one of the job's processes").formatted(mapping.inode()));
        }
        long size = contents.copyTo(copy);
        ids.put(key, id);
        copies.add(copy);
        table.add(segment == null ? new SharedMemory(id, kind, mapping.path(), size, 0600, -1, -1, 0, 0, 0)
                : new SharedMemory(id, kind, mapping.path(), segment.size, segment.mode, segment.uid, segment.gid,
                        segment.key, (int) mapping.inode(), 0));
        return id;
    }

    private long add(String key, MemoryKind kind, String path, Files.Stat stat, int sysvKey, int sysvId, int seals,
            int file) {
        long id = table.newId();
        ContentCopy copy = new ContentCopy(id, false);
        copies.add(copy);
        copy.file(file, stat.size());
        ids.put(key, id);
        table.add(new SharedMemory(id, kind, path, stat.size(), stat.mode() & 07777, stat.uid(), stat.gid(), sysvKey,
                sysvId, seals));
        return id;
    }

    static boolean sysv(Mapping mapping) {
        return mapping.shared() && mapping.path().startsWith("/SYSV") && mapping.deleted();
    }

    /** As maps prints it: major:minor:inode (new_decode_dev of st_dev). */
    private static String key(Files.Stat stat) {
        long major = stat.device() >> 8 & 0xfff;
        long minor = stat.device() & 0xff | stat.device() >> 12 & 0xfff00;
        return "%02x:%02x:%d".formatted(major, minor, stat.inode());
    }
}
