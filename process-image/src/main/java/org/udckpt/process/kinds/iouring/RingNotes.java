package org.udckpt.process.kinds.iouring;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.udckpt.layout.Layout;
import org.udckpt.process.kinds.base.AskedProcess;

/** How the job's rings were made, as the preloaded library has noted it (interposer_rings.c). */
public final class RingNotes {
    private static final String SYMBOL = "udckpt_ring_notes";

    /**
     * A note.
     *
     * @param address of the inode
     * @param maker as the process itself calls the thread
     * @param event the eventfd's number; -1: none
     * @param files address of what is known of registered files; 0: nothing
     * @param fileCount how many places they have
     * @param registrar thread that has registered the ring itself, as the process calls it; 0: none
     * @param slot of that
     */
    record Note(AskedProcess process, long address, long inode, long registered, int flags, int processor, int idle,
            int maker, int event, boolean eventAsync, long files, int fileCount, int registrar, int slot) {
        boolean registered(int operation) {
            return (registered & 1L << operation) != 0;
        }

        /** The descriptors that registered files came from; -1: not known, or none. */
        int[] fileDescriptors() {
            if (files == 0) {
                return new int[0];
            }
            ByteBuffer known = ByteBuffer.wrap(process.read(files, fileCount * Integer.BYTES))
                    .order(ByteOrder.LITTLE_ENDIAN);
            return IntStream.range(0, fileCount).map(place -> known.getInt(place * Integer.BYTES) - 1).toArray();
        }
    }

    private List<AskedProcess> unread = List.of();
    private final List<Note> notes = new ArrayList<>();
    private boolean making;

    /** Nothing is read before a ring is seen. @param processes all of the job's here */
    void ask(List<AskedProcess> processes) {
        unread = processes;
    }

    /**
     * Whether a process has a ring, or had one, and so may have registered memory: the kernel writes there without a
     * trace in the page tables.
     */
    public static boolean any(AskedProcess process) {
        long address = process.libraryData(SYMBOL, Layout.RingNotes.SIZE);
        if (address == 0) {
            return true; // nobody has noted them
        }
        for (byte one : process.read(address, Layout.RingNotes.SIZE)) {
            if (one != 0) {
                return true;
            }
        }
        return false;
    }

    private void readOnce() {
        unread.forEach(this::read);
        unread = List.of();
    }

    private void read(AskedProcess process) {
        long address = process.libraryData(SYMBOL, Layout.RingNotes.SIZE);
        if (address == 0) {
            return;
        }
        ByteBuffer table = ByteBuffer.wrap(process.read(address, Layout.RingNotes.SIZE)).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < Layout.RING_NOTES; i++) {
            int at = Layout.RingNotes.ENTRIES + i * Layout.RingNote.SIZE;
            long inode = table.getLong(at + Layout.RingNote.INODE);
            if (inode == Layout.RING_BEING_MADE) {
                making = true;
            } else if (inode != 0) {
                notes.add(new Note(process, address + at + Layout.RingNote.INODE, inode,
                        table.getLong(at + Layout.RingNote.REGISTERED),
                        table.getInt(at + Layout.RingNote.FLAGS), table.getInt(at + Layout.RingNote.PROCESSOR),
                        table.getInt(at + Layout.RingNote.IDLE), table.getInt(at + Layout.RingNote.MAKER),
                        table.getInt(at + Layout.RingNote.EVENT) - 1,
                        table.getLong(at + Layout.RingNote.EVENT_ASYNC) != 0,
                        table.getLong(at + Layout.RingNote.FILES), table.getInt(at + Layout.RingNote.FILE_COUNT),
                        table.getInt(at + Layout.RingNote.THREAD), (int) table.getLong(at + Layout.RingNote.SLOT)));
            }
        }
    }

    /** Where a ring is noted, in which process of the job. */
    record Place(long pid, long address) {}

    /** All places of a ring: a child has its parent's notes. */
    byte[] places(long inode) {
        List<Note> found = notes.stream().filter(note -> note.inode == inode).toList();
        ByteBuffer places = ByteBuffer.allocate(found.size() * IoUring.NOTE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        found.forEach(note -> places.putLong(note.process.namespacePid()).putLong(note.address));
        return places.array();
    }

    /** As {@link #places(long)} has put them. */
    static List<Place> places(byte[] notes) {
        ByteBuffer places = ByteBuffer.wrap(notes).order(ByteOrder.LITTLE_ENDIAN);
        List<Place> found = new ArrayList<>();
        while (places.remaining() >= IoUring.NOTE_BYTES) {
            found.add(new Place(places.getLong(), places.getLong()));
        }
        return found;
    }

    /** Whether a thread is making one, and has not noted it yet. */
    boolean making() {
        return making;
    }

    /** Of a ring, by the process that still has the thread which made it; null: nobody has noted it. */
    Note of(long inode) {
        readOnce();
        Note found = null;
        for (Note note : notes) {
            boolean own = note.process.namespaceThreads().contains(note.process.ofOwn(note.maker));
            if (note.inode == inode && (found == null || own)) {
                found = note;
            }
        }
        return found;
    }
}
