package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.kinds.aio.AioContext;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.inotify.InotifyKind;
import org.udckpt.process.kinds.iouring.IoUring;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.MappedFile;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.RowCheck;
import org.udckpt.process.model.SharedMemory;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;

/**
 * Kernel objects and the descriptors that name them: ids, and what they refer to. What a kind's row may say is in the
 * kind's folder.
 */
final class ObjectCheck implements CheckedImage {
    private final JobImage image;
    private final Set<Integer> pids;
    private final Map<Long, Object> byId = new HashMap<>();
    private final Set<Long> open = new HashSet<>();

    ObjectCheck(JobImage image, Set<Integer> pids) {
        this.image = image;
        this.pids = pids;
    }

    /** The ids of what mappings may be of: shared memories, and rings of the kernel. */
    Set<Long> check() throws BrokenTable {
        collect();
        rows("objects", image.objects());
        rows("tcp-sockets", image.tcpSockets());
        rows("terminals", image.terminals());
        rows("packet-sockets", image.packetSockets());
        RowCheck row = new RowCheck("inotify-watches");
        for (InotifyWatch watch : image.watches()) {
            InotifyKind.check(watch, row.next(), this);
        }
        row = new RowCheck("file-notices");
        for (FileNotice notice : image.notices()) {
            notice(row.next(), notice);
        }
        descriptors();
        Set<Long> shared = new HashSet<>();
        byId.forEach((id, object) -> {
            if (object instanceof SharedMemory memory && memory.kind() != MemoryKind.MOUNTED_FILE
                    || object instanceof IoUring || object instanceof AioContext) {
                shared.add(id);
            }
        });
        return shared;
    }

    private <T> void rows(String table, List<T> objects) throws BrokenTable {
        RowCheck row = new RowCheck(table);
        for (T object : objects) {
            ObjectKinds.of(object).check(object, row.next(), this);
        }
    }

    private void collect() throws BrokenTable {
        RowCheck row = new RowCheck("objects");
        for (KernelObject object : image.objects()) {
            add(row.next(), object.id(), object);
        }
        row = new RowCheck("tcp-sockets");
        for (TcpSocket socket : image.tcpSockets()) {
            add(row.next(), socket.id(), socket);
        }
        row = new RowCheck("terminals");
        for (TerminalObject terminal : image.terminals()) {
            add(row.next(), terminal.id(), terminal);
        }
        row = new RowCheck("packet-sockets");
        for (PacketSocket socket : image.packetSockets()) {
            add(row.next(), socket.id(), socket);
        }
        image.descriptors().forEach(descriptor -> open.add(descriptor.object()));
        open.addAll(ObjectKinds.inFlight(image).keySet());
    }

    private void add(RowCheck row, long id, Object object) throws BrokenTable {
        row.between(1, Long.MAX_VALUE, "id", id);
        if (object instanceof MappedFile) {
            return; // nothing refers to it, and in older images its id may be a socket's, too
        }
        Object other = byId.put(id, object);
        if (other != null) {
            throw row.broken("duplicate id " + id + ": another row, a " + other.getClass().getSimpleName()
                    + ", has it");
        }
    }

    private void descriptors() throws BrokenTable {
        RowCheck row = new RowCheck("descriptors");
        Map<Integer, Set<Integer>> seen = new HashMap<>();
        for (Descriptor descriptor : image.descriptors()) {
            row.next();
            row.require(pids.contains(descriptor.pid()), "pid %d is not a process of the image", descriptor.pid());
            row.between(0, MOST_DESCRIPTOR, "fd", descriptor.fd());
            row.require(seen.computeIfAbsent(descriptor.pid(), _ -> new HashSet<>()).add(descriptor.fd()),
                    "duplicate fd %d in process %d", descriptor.fd(), descriptor.pid());
            row.require(canBeOpen(descriptor.object()), CheckedImage.CANNOT_BE_OPEN, descriptor.object());
        }
    }

    private void notice(RowCheck row, FileNotice notice) throws BrokenTable {
        switch (notice) {
            case FileNotice.Lease lease -> {
                row.require(is(lease.object(), OpenFile.class), "object %d is not an open file", lease.object());
                receiver(row, lease.object(), lease.type(), lease.receiver(), lease.signal());
            }
            case FileNotice.LostEvents lost -> InotifyKind.check(lost, row, this);
        }
    }

    @Override
    public JobImage image() {
        return image;
    }

    @Override
    public Object get(long id) {
        return byId.get(id);
    }

    @Override
    public boolean canBeOpen(long id) {
        Object object = byId.get(id);
        return object != null && ObjectKinds.of(object).opens();
    }

    @Override
    public boolean isOpen(long id) {
        return open.contains(id);
    }

    @Override
    public boolean process(int pid) {
        return pids.contains(pid);
    }
}
