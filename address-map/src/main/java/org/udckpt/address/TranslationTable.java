package org.udckpt.address;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.udckpt.layout.Layout;
import org.udckpt.layout.Layout.TableHeader;
import org.udckpt.layout.Layout.TableSlot;

/**
 * The node's cache of the address map in shared memory: one writer (this object, in the agent), any number of readers
 * in the ranks ({@code address_table.c}), who take no lock. Layout in {@code native/layout/udckpt.layout}: two arrays
 * of 16-byte slots with open addressing, so that a look-up touches one cache line; a LID's GIDs lie beside them.
 */
public final class TranslationTable implements AutoCloseable {
    private static final VarHandle INT = JAVA_INT.varHandle();
    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final ValueLayout.OfLong NETWORK_LONG = JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long VERSION = 1L << Layout.SLOT_VERSION_SHIFT;

    private final Arena arena;
    private final MemorySegment memory;
    private final int slots;
    private final long forward = Layout.TABLE_HEADER_BYTES;
    private final long reverse;
    private final long virtualGids;
    private final long realGids;

    private TranslationTable(Arena arena, MemorySegment memory, int slots) {
        this.arena = arena;
        this.memory = memory;
        this.slots = slots;
        reverse = forward + (long) slots * TableSlot.SIZE;
        virtualGids = reverse + (long) slots * TableSlot.SIZE;
        realGids = virtualGids + (long) Layout.TABLE_LIDS * Layout.TABLE_GID_BYTES;
    }

    /**
     * Makes the file.
     *
     * @param path the file, which must not exist
     * @param capacity endpoints that it can hold, up to 2^24; slots are half as many again and more, so that probes
     *     stay short
     * @param generation of the job's incarnation
     */
    public static TranslationTable create(Path path, int capacity, int generation) throws IOException {
        if (capacity < 1 || capacity > 1 << 24) {
            throw new IllegalArgumentException("table capacity " + capacity + " is not from 1 to 2^24");
        }
        int slots = Math.toIntExact((capacity * 8L + 4) / 5);
        Arena arena = Arena.ofShared();
        MemorySegment memory = SharedFile.create(path, bytes(slots), arena);
        memory.set(JAVA_INT, TableHeader.SLOTS, slots);
        memory.set(JAVA_INT, TableHeader.GENERATION, generation);
        memory.set(JAVA_LONG, TableHeader.EPOCH, 1);
        memory.set(JAVA_LONG, TableHeader.LAYOUT_HASH, Layout.LAYOUT_HASH);
        LONG.setRelease(memory, (long) TableHeader.MAGIC, Layout.TABLE_MAGIC);
        return new TranslationTable(arena, memory, slots);
    }

    /**
     * Makes the file for the ranks.
     *
     * @param key by which they know each other's datagrams
     * @param complete whether all endpoints of the job are put into it before they can send; else ranks ask for sources
     *     that they do not find
     */
    public static TranslationTable create(Path path, int capacity, int generation, DatagramKey key, boolean complete)
            throws IOException {
        TranslationTable table = create(path, capacity, generation);
        MemorySegment.copy(key.bytes(), 0, table.memory, JAVA_BYTE, TableHeader.DATAGRAM_KEY, DatagramKey.BYTES);
        table.memory.set(JAVA_INT, TableHeader.HAS_KEY, 1);
        table.memory.set(JAVA_INT, TableHeader.COMPLETE, complete ? 1 : 0);
        return table;
    }

    /** Maps an existing table, for lookups only. */
    public static TranslationTable open(Path path) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SharedFile.open(path, Layout.TABLE_HEADER_BYTES, arena);
            SharedFile.check(path, memory, (long) LONG.getAcquire(memory, (long) TableHeader.MAGIC),
                    memory.get(JAVA_LONG, TableHeader.LAYOUT_HASH), Layout.TABLE_MAGIC, Layout.LAYOUT_HASH);
            int slots = memory.get(JAVA_INT, TableHeader.SLOTS);
            if (slots < 1 || memory.byteSize() < bytes(slots)) {
                throw new IOException(path + ": it has " + memory.byteSize() + " bytes, too few for its " + slots
                        + " slots");
            }
            return new TranslationTable(arena, memory, slots);
        } catch (IOException e) {
            arena.close();
            throw e;
        }
    }

    private static long bytes(int slots) {
        return Layout.TABLE_HEADER_BYTES + 2L * slots * TableSlot.SIZE
                + 2L * Layout.TABLE_LIDS * Layout.TABLE_GID_BYTES;
    }

    /** Endpoints that it can hold. */
    public int capacity() {
        return (int) (slots * 5L / 8);
    }

    /** Endpoints in it. */
    public int count() {
        return (int) INT.getAcquire(memory, (long) TableHeader.COUNT);
    }

    public int generation() {
        return memory.get(JAVA_INT, TableHeader.GENERATION);
    }

    /** Changes whenever an entry that a rank may have cached was changed or removed. */
    public long epoch() {
        return (long) LONG.getAcquire(memory, (long) TableHeader.EPOCH);
    }

    /**
     * Puts an endpoint, or moves it if its virtual address is known.
     *
     * @throws IllegalStateException if the table is full
     */
    public synchronized void put(Endpoint endpoint) {
        VerbsAddress virtual = endpoint.virtual();
        VerbsAddress real = endpoint.real();
        if (real == null) {
            throw new IllegalArgumentException(virtual + " has no real address in this incarnation");
        }
        int present = slot(forward, virtual.key());
        if (present >= 0) {
            if (value(forward, present) == value(real, endpoint.rank())) {
                writeGids(virtual, real);
                return;
            }
            remove(virtual);
        }
        // A device hands a number out twice only when its first owner is gone, of which the owner's own agent alone was
        // told.
        byReal(real.lid(), real.qpn()).ifPresent(gone -> remove(gone.virtual()));
        if (count() >= capacity()) {
            throw new IllegalStateException("translation table is full: all " + capacity()
                    + " entries are in use, the limit of queue pairs for a job of this size");
        }
        writeGids(virtual, real);
        insert(forward, virtual.key(), value(real, endpoint.rank()));
        insert(reverse, real.key(), value(virtual, endpoint.rank()));
        INT.setRelease(memory, (long) TableHeader.COUNT, count() + 1);
    }

    /** Puts all endpoints of a map that have a real address. */
    public void putAll(AddressMap map) {
        map.forEach(endpoint -> {
            if (endpoint.real() != null) {
                put(endpoint);
            }
        });
    }

    /** All endpoints, in no order; {@code each} must not change this table. */
    public void forEach(Consumer<Endpoint> each) {
        for (int slot = 0; slot < slots; slot++) {
            long key = key(forward, slot);
            if (state(key) == Layout.SLOT_VALID) {
                byVirtual((int) ((key & Layout.ADDRESS_MASK) >>> 24), (int) key & VerbsAddress.MAX_QPN).ifPresent(each);
            }
        }
    }

    /** Removes the entry of this virtual LID and QPN and moves the epoch. @return whether it was there. */
    public synchronized boolean remove(VerbsAddress virtual) {
        int slot = slot(forward, virtual.key());
        if (slot < 0) {
            return false;
        }
        long real = value(forward, slot) & Layout.ADDRESS_MASK;
        erase(forward, slot);
        erase(reverse, slot(reverse, real));
        INT.setRelease(memory, (long) TableHeader.COUNT, count() - 1);
        LONG.getAndAdd(memory, (long) TableHeader.EPOCH, 1L);
        return true;
    }

    /** Looks up what the job calls {@code lid, qpn}, as a rank does. */
    public Optional<Endpoint> byVirtual(int lid, int qpn) {
        return find(forward, lid, qpn);
    }

    /** Looks up what is at the device address {@code lid, qpn}, as a rank does. */
    public Optional<Endpoint> byReal(int lid, int qpn) {
        return find(reverse, lid, qpn);
    }

    @Override
    public void close() {
        arena.close();
    }

    private Optional<Endpoint> find(long direction, int lid, int qpn) {
        long address = (long) lid << 24 | qpn;
        while (true) {
            int slot = slot(direction, address);
            if (slot < 0) {
                return Optional.empty();
            }
            long key = key(direction, slot);
            long value = value(direction, slot);
            if (key == key(direction, slot) && (key & VERSION - 1) == valid(address)) {
                long other = value & Layout.ADDRESS_MASK;
                boolean real = direction == reverse;
                return Optional.of(new Endpoint((int) (value >>> Layout.SLOT_RANK_SHIFT),
                        address(real ? other : address, virtualGids),
                        address(real ? address : other, realGids)));
            }
        }
    }

    private VerbsAddress address(long address, long gids) {
        int lid = (int) (address >>> 24);
        long at = gids + (long) lid * Layout.TABLE_GID_BYTES;
        return new VerbsAddress(lid, new Gid(memory.get(NETWORK_LONG, at), memory.get(NETWORK_LONG, at + Long.BYTES)),
                (int) address & 0xffffff);
    }

    /** Before the slots that lead a reader to them. All endpoints of a LID have its GID. */
    private void writeGids(VerbsAddress virtual, VerbsAddress real) {
        writeGid(virtualGids + (long) virtual.lid() * Layout.TABLE_GID_BYTES, virtual.gid());
        writeGid(realGids + (long) real.lid() * Layout.TABLE_GID_BYTES, real.gid());
    }

    private void writeGid(long at, Gid gid) {
        if (memory.get(NETWORK_LONG, at) != gid.prefix()
                || memory.get(NETWORK_LONG, at + Long.BYTES) != gid.interfaceId()) {
            memory.set(NETWORK_LONG, at, gid.prefix());
            memory.set(NETWORK_LONG, at + Long.BYTES, gid.interfaceId());
        }
    }

    /** The valid slot of an address, or -1. */
    private int slot(long direction, long address) {
        int slot = home(address);
        for (int probes = 0; probes < slots; probes++, slot = next(slot)) {
            long key = key(direction, slot);
            if ((key & VERSION - 1) == valid(address)) {
                return slot;
            }
            if (state(key) == Layout.SLOT_EMPTY) {
                return -1;
            }
        }
        return -1;
    }

    private void insert(long direction, long address, long value) {
        int slot = home(address);
        while (state(key(direction, slot)) == Layout.SLOT_VALID) {
            slot = next(slot);
        }
        long at = at(direction, slot);
        LONG.setRelease(memory, at + TableSlot.VALUE, value);
        setKey(direction, slot, valid(address));
    }

    /** A tombstone is needed only where a probe sequence goes on behind it. */
    private void erase(long direction, int slot) {
        if (state(key(direction, next(slot))) != Layout.SLOT_EMPTY) {
            setKey(direction, slot, (long) Layout.SLOT_GONE << Layout.SLOT_STATE_SHIFT);
            return;
        }
        for (int at = slot; at == slot || state(key(direction, at)) == Layout.SLOT_GONE;
                at = at == 0 ? slots - 1 : at - 1) {
            setKey(direction, at, 0);
        }
    }

    /**
     * With another version than before, so that a reader between key and value sees that they do not belong together.
     */
    private void setKey(long direction, int slot, long key) {
        long version = key(direction, slot) + VERSION & -VERSION;
        LONG.setVolatile(memory, at(direction, slot) + TableSlot.KEY, version | key);
    }

    private long key(long direction, int slot) {
        return (long) LONG.getAcquire(memory, at(direction, slot) + TableSlot.KEY);
    }

    private long value(long direction, int slot) {
        return (long) LONG.getAcquire(memory, at(direction, slot) + TableSlot.VALUE);
    }

    private int home(long address) {
        return (int) ((address * Layout.TABLE_HASH_MULTIPLIER >>> 32) * slots >>> 32);
    }

    private int next(int slot) {
        return slot + 1 == slots ? 0 : slot + 1;
    }

    private static long at(long direction, int slot) {
        return direction + (long) slot * TableSlot.SIZE;
    }

    private static long valid(long address) {
        return address | (long) Layout.SLOT_VALID << Layout.SLOT_STATE_SHIFT;
    }

    private static long value(VerbsAddress other, int rank) {
        return other.key() | (long) rank << Layout.SLOT_RANK_SHIFT;
    }

    private static int state(long key) {
        return (int) (key >>> Layout.SLOT_STATE_SHIFT) & Layout.SLOT_STATE_MASK;
    }
}
