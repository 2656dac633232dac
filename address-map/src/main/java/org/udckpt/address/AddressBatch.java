package org.udckpt.address;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Endpoints between nodes: an Arrow IPC stream of (rank, virtual and real address as LID &lt;&lt; 24 | QPN), with its length (4 bytes) before it, and
 * behind it a stream of the GIDs of the LIDs that occur, each once: a node's queue pairs share theirs. And keys alone, a stream of one column.
 */
public final class AddressBatch {
    /** With GIDs of their own at both sides for each, they stay under a megabyte. */
    public static final int MOST_ENDPOINTS = 16_000;
    private static final int MOST_BYTES = 1 << 20;
    private static final int VIRTUAL = 0, REAL = 1;
    private static final ArrowType INT = new ArrowType.Int(32, true);
    private static final ArrowType LONG = new ArrowType.Int(64, true);
    private static final Schema ENDPOINTS = new Schema(List.of(Field.notNullable("rank", INT), Field.notNullable("virtual", LONG), Field.notNullable("real", LONG)));
    private static final Schema GIDS = new Schema(List.of(Field.notNullable("side", INT), Field.notNullable("lid", INT),
            Field.notNullable("gid", new ArrowType.FixedSizeBinary(Gid.BYTES))));
    private static final Schema KEYS = new Schema(List.of(Field.notNullable("virtual", LONG)));

    private AddressBatch() {}

    /** What fills a batch's rows. */
    private interface Filling {
        void fill(VectorSchemaRoot rows);
    }

    /** What reads them; {@code rows} is valid during the call only. */
    private interface Reading {
        void read(VectorSchemaRoot rows) throws IOException;
    }

    /** @param endpoints at most {@link #MOST_ENDPOINTS}, each with a real address */
    public static byte[] endpoints(List<Endpoint> endpoints) {
        if (endpoints.size() > MOST_ENDPOINTS) {
            throw new IllegalArgumentException(endpoints.size() + " endpoints in one batch");
        }
        Map<Integer, Gid> virtual = new HashMap<>();
        Map<Integer, Gid> real = new HashMap<>();
        byte[] rows = write(ENDPOINTS, endpoints.size(), root -> {
            IntVector ranks = (IntVector) root.getVector("rank");
            BigIntVector virtuals = (BigIntVector) root.getVector("virtual");
            BigIntVector reals = (BigIntVector) root.getVector("real");
            for (int row = 0; row < endpoints.size(); row++) {
                Endpoint endpoint = endpoints.get(row);
                ranks.setSafe(row, endpoint.rank());
                virtuals.setSafe(row, endpoint.virtual().key());
                reals.setSafe(row, endpoint.real().key());
                virtual.put(endpoint.virtual().lid(), endpoint.virtual().gid());
                real.put(endpoint.real().lid(), endpoint.real().gid());
            }
        });
        byte[] gids = write(GIDS, virtual.size() + real.size(), root -> {
            put(root, 0, VIRTUAL, virtual);
            put(root, virtual.size(), REAL, real);
        });
        return ByteBuffer.allocate(4 + rows.length + gids.length).putInt(rows.length).put(rows).put(gids).array();
    }

    /** @throws IOException if the bytes are no batch of endpoints */
    public static List<Endpoint> endpoints(byte[] bytes) throws IOException {
        int length = bytes.length < 4 ? -1 : ByteBuffer.wrap(bytes).getInt();
        if (length < 0 || length > bytes.length - 4) {
            throw new IOException("a batch of endpoints of " + bytes.length + " bytes says that it holds " + length);
        }
        List<Map<Integer, Gid>> gids = List.of(new HashMap<>(), new HashMap<>());
        read(GIDS, bytes, 4 + length, bytes.length - 4 - length, rows -> {
            IntVector sides = (IntVector) rows.getVector("side");
            IntVector lids = (IntVector) rows.getVector("lid");
            FixedSizeBinaryVector values = (FixedSizeBinaryVector) rows.getVector("gid");
            for (int row = 0; row < rows.getRowCount(); row++) {
                if (sides.get(row) != VIRTUAL && sides.get(row) != REAL) {
                    throw new IOException("a GID of side " + sides.get(row));
                }
                gids.get(sides.get(row)).put(lids.get(row), Gid.read(values.get(row), 0));
            }
        });
        List<Endpoint> endpoints = new ArrayList<>();
        read(ENDPOINTS, bytes, 4, length, rows -> {
            IntVector ranks = (IntVector) rows.getVector("rank");
            BigIntVector virtuals = (BigIntVector) rows.getVector("virtual");
            BigIntVector reals = (BigIntVector) rows.getVector("real");
            for (int row = 0; row < rows.getRowCount(); row++) {
                endpoints.add(new Endpoint(ranks.get(row), address(virtuals.get(row), gids.get(VIRTUAL)), address(reals.get(row), gids.get(REAL))));
            }
        });
        return endpoints;
    }

    /** Virtual addresses alone. */
    public static byte[] keys(long[] keys) {
        return write(KEYS, keys.length, root -> {
            BigIntVector virtuals = (BigIntVector) root.getVector("virtual");
            for (int row = 0; row < keys.length; row++) {
                virtuals.setSafe(row, keys[row]);
            }
        });
    }

    /** @throws IOException if the bytes are no batch of keys */
    public static long[] keys(byte[] bytes) throws IOException {
        List<long[]> batches = new ArrayList<>();
        read(KEYS, bytes, 0, bytes.length, rows -> {
            BigIntVector virtuals = (BigIntVector) rows.getVector("virtual");
            long[] keys = new long[rows.getRowCount()];
            for (int row = 0; row < keys.length; row++) {
                keys[row] = virtuals.get(row);
            }
            batches.add(keys);
        });
        return batches.stream().flatMapToLong(java.util.Arrays::stream).toArray();
    }

    private static VerbsAddress address(long key, Map<Integer, Gid> gids) throws IOException {
        int lid = (int) (key >>> 24);
        Gid gid = gids.get(lid);
        if (key < 0 || key >>> 40 != 0 || gid == null) {
            throw new IOException("address 0x%x is none, or its GID is missing".formatted(key));
        }
        return new VerbsAddress(lid, gid, (int) key & VerbsAddress.MAX_QPN);
    }

    private static void put(VectorSchemaRoot root, int first, int side, Map<Integer, Gid> gids) {
        int row = first;
        for (Map.Entry<Integer, Gid> entry : gids.entrySet()) {
            ((IntVector) root.getVector("side")).setSafe(row, side);
            ((IntVector) root.getVector("lid")).setSafe(row, entry.getKey());
            ((FixedSizeBinaryVector) root.getVector("gid")).setSafe(row, entry.getValue().bytes());
            row++;
        }
    }

    private static byte[] write(Schema schema, int rows, Filling filling) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
                ArrowStreamWriter writer = new ArrowStreamWriter(root, null, bytes)) {
            root.allocateNew();
            filling.fill(root);
            root.setRowCount(rows);
            writer.start();
            writer.writeBatch();
            writer.end();
        } catch (IOException e) {
            throw new IllegalStateException("a stream in memory failed", e);
        }
        return bytes.toByteArray();
    }

    /** Whatever the bytes are, no more memory is taken than they could be an honest batch of. */
    private static void read(Schema schema, byte[] bytes, int offset, int length, Reading reading) throws IOException {
        try (BufferAllocator allocator = new RootAllocator(4L * MOST_BYTES);
                ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(bytes, offset, length), allocator)) {
            VectorSchemaRoot rows = reader.getVectorSchemaRoot();
            if (!rows.getSchema().getFields().equals(schema.getFields())) {
                throw new IOException("a batch has the columns " + rows.getSchema());
            }
            while (reader.loadNextBatch()) {
                reading.read(rows);
            }
        } catch (RuntimeException e) {
            throw new IOException("no Arrow stream of " + schema.getFields().stream().map(Field::getName).toList() + ": " + e.getMessage(), e);
        }
    }
}
