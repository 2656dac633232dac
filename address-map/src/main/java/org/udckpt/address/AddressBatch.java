package org.udckpt.address;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.MessageChannelReader;
import org.apache.arrow.vector.ipc.message.MessageResult;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Endpoints between nodes: an Arrow IPC stream of (rank, virtual and real QPN), with its length (4 bytes) before it,
 * and behind it a stream of the hosts that they are at: so many of the rows from the first one on have these virtual
 * and real LIDs and GIDs, and so on. A node's queue pairs share them, so that rows in the order of their virtual
 * addresses take 14 bytes each. And keys alone (LID &lt;&lt; 24 | QPN, or other numbers of 63 bits), as runs of numbers
 * that follow each other.
 */
public final class AddressBatch {
    /** With hosts of their own for each, they stay under a megabyte. */
    public static final int MOST_ENDPOINTS = 16_000;
    private static final int MOST_KEYS = 1 << 20;
    private static final int MOST_BYTES = 1 << 20;
    private static final ArrowType INT = new ArrowType.Int(32, true);
    private static final ArrowType LONG = new ArrowType.Int(64, true);
    private static final ArrowType GID = new ArrowType.FixedSizeBinary(Gid.BYTES);
    private static final Schema ENDPOINTS = schema("rank", INT, "virtual_qpn", INT, "real_qpn", INT);
    private static final Schema HOSTS =
            schema("rows", INT, "virtual_lid", INT, "virtual_gid", GID, "real_lid", INT, "real_gid", GID);
    private static final Schema KEYS = schema("first", LONG, "count", INT);

    private AddressBatch() {}

    /** What fills a batch's rows. */
    private interface Filling {
        void fill(VectorSchemaRoot rows);
    }

    /** What reads them; {@code rows} is valid during the call only. */
    private interface Reading {
        void read(VectorSchemaRoot rows) throws IOException;
    }

    /** Rows that are at the same hosts. The QPNs of the two addresses mean nothing. */
    private record Host(int rows, VerbsAddress virtual, VerbsAddress real) {
        static Host of(int rows, Endpoint one) {
            return new Host(rows, one.virtual(), one.real());
        }

        boolean holds(Endpoint endpoint) {
            return same(virtual, endpoint.virtual()) && same(real, endpoint.real());
        }

        private static boolean same(VerbsAddress one, VerbsAddress other) {
            return one.lid() == other.lid() && one.gid().equals(other.gid());
        }
    }

    /**
     * @param endpoints at most {@link #MOST_ENDPOINTS}, each with a real address; best in the order of their virtual
     *     ones
     */
    public static byte[] endpoints(List<Endpoint> endpoints) {
        if (endpoints.size() > MOST_ENDPOINTS) {
            throw new IllegalArgumentException(endpoints.size() + " endpoints in one batch");
        }
        byte[] rows = write(ENDPOINTS, endpoints.size(), root -> {
            IntVector ranks = ints(root, "rank");
            IntVector virtual = ints(root, "virtual_qpn");
            IntVector real = ints(root, "real_qpn");
            for (int row = 0; row < endpoints.size(); row++) {
                Endpoint endpoint = endpoints.get(row);
                ranks.setSafe(row, endpoint.rank());
                virtual.setSafe(row, endpoint.virtual().qpn());
                real.setSafe(row, endpoint.real().qpn());
            }
        });
        List<Host> hosts = hosts(endpoints);
        byte[] places = write(HOSTS, hosts.size(), root -> {
            for (int row = 0; row < hosts.size(); row++) {
                Host host = hosts.get(row);
                ints(root, "rows").setSafe(row, host.rows);
                ints(root, "virtual_lid").setSafe(row, host.virtual.lid());
                ints(root, "real_lid").setSafe(row, host.real.lid());
                gids(root, "virtual_gid").setSafe(row, host.virtual.gid().bytes());
                gids(root, "real_gid").setSafe(row, host.real.gid().bytes());
            }
        });
        return ByteBuffer.allocate(4 + rows.length + places.length).putInt(rows.length).put(rows).put(places).array();
    }

    /** @throws IOException if the bytes are no batch of endpoints */
    public static List<Endpoint> endpoints(byte[] bytes) throws IOException {
        int length = bytes.length < 4 ? -1 : ByteBuffer.wrap(bytes).getInt();
        if (length < 0 || length > bytes.length - 4) {
            throw new IOException("a batch of endpoints of " + bytes.length + " bytes announces " + length);
        }
        List<Host> hosts = new ArrayList<>();
        read(HOSTS, bytes, 4 + length, bytes.length - 4 - length, rows -> {
            for (int row = 0; row < rows.getRowCount(); row++) {
                hosts.add(new Host(ints(rows, "rows").get(row), address(rows, "virtual", row),
                        address(rows, "real", row)));
            }
        });
        List<Endpoint> endpoints = new ArrayList<>();
        Iterator<Host> next = hosts.iterator();
        read(ENDPOINTS, bytes, 4, length, rows -> {
            IntVector ranks = ints(rows, "rank");
            IntVector virtual = ints(rows, "virtual_qpn");
            IntVector real = ints(rows, "real_qpn");
            Host host = null;
            int end = 0;
            for (int row = 0; row < rows.getRowCount(); row++) {
                while (row == end) {
                    if (!next.hasNext()) {
                        throw new IOException("endpoint " + row + " of " + rows.getRowCount() + " has no host");
                    }
                    host = next.next();
                    if (host.rows < 1) {
                        throw new IOException("a host of " + host.rows + " endpoints");
                    }
                    end = Math.addExact(end, host.rows);
                }
                endpoints.add(
                        new Endpoint(ranks.get(row), at(host.virtual, virtual.get(row)), at(host.real, real.get(row))));
            }
        });
        return endpoints;
    }

    /** Virtual addresses alone. @param keys in growing order, each once */
    public static byte[] keys(long[] keys) {
        List<long[]> runs = new ArrayList<>();
        for (int i = 0; i < keys.length; i++) {
            if (i > 0 && keys[i] == keys[i - 1] + 1) {
                runs.getLast()[1]++;
            } else {
                runs.add(new long[]{keys[i], 1});
            }
        }
        return write(KEYS, runs.size(), root -> {
            BigIntVector first = (BigIntVector) root.getVector("first");
            IntVector count = ints(root, "count");
            for (int row = 0; row < runs.size(); row++) {
                first.setSafe(row, runs.get(row)[0]);
                count.setSafe(row, (int) runs.get(row)[1]);
            }
        });
    }

    /** @throws IOException if the bytes are no batch of keys, or of too many */
    public static long[] keys(byte[] bytes) throws IOException {
        List<LongStream> runs = new ArrayList<>();
        read(KEYS, bytes, 0, bytes.length, rows -> {
            BigIntVector firsts = (BigIntVector) rows.getVector("first");
            IntVector counts = ints(rows, "count");
            long keys = 0;
            for (int row = 0; row < rows.getRowCount(); row++) {
                long first = firsts.get(row);
                int count = counts.get(row);
                keys += count;
                if (first < 0 || first > Long.MAX_VALUE - MOST_KEYS || count < 1 || keys > MOST_KEYS) {
                    throw new IOException("a run of %d keys from 0x%x".formatted(count, first));
                }
                runs.add(LongStream.range(first, first + count));
            }
        });
        return runs.stream().flatMapToLong(run -> run).toArray();
    }

    private static List<Host> hosts(List<Endpoint> endpoints) {
        List<Host> hosts = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            if (!hosts.isEmpty() && hosts.getLast().holds(endpoint)) {
                hosts.add(Host.of(hosts.removeLast().rows + 1, endpoint));
            } else {
                hosts.add(Host.of(1, endpoint));
            }
        }
        return hosts;
    }

    private static VerbsAddress address(VectorSchemaRoot rows, String side, int row) {
        return new VerbsAddress(ints(rows, side + "_lid").get(row), Gid.read(gids(rows, side + "_gid").get(row), 0), 0);
    }

    private static VerbsAddress at(VerbsAddress host, int qpn) {
        return new VerbsAddress(host.lid(), host.gid(), qpn);
    }

    private static IntVector ints(VectorSchemaRoot rows, String name) {
        return (IntVector) rows.getVector(name);
    }

    private static FixedSizeBinaryVector gids(VectorSchemaRoot rows, String name) {
        return (FixedSizeBinaryVector) rows.getVector(name);
    }

    private static Schema schema(Object... namesAndTypes) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            fields.add(Field.notNullable((String) namesAndTypes[i], (ArrowType) namesAndTypes[i + 1]));
        }
        return new Schema(fields);
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

    /**
     * Arrow takes a message's length from the bytes and makes an array of that length: not here, where there are not so
     * many.
     */
    private static final class CheckedReader extends MessageChannelReader {
        private static final int CONTINUATION = 0xffffffff; // Arrow columnar format, "Encapsulated message format"
        private final ByteBuffer bytes;

        CheckedReader(ByteBuffer bytes, BufferAllocator allocator) {
            super(new ReadChannel(
                    Channels.newChannel(new ByteArrayInputStream(bytes.array(), bytes.position(), bytes.remaining()))),
                    allocator);
            this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
        }

        @Override
        public MessageResult readNext() throws IOException {
            int at = Math.toIntExact(in.bytesRead());
            if (at + 4 <= bytes.limit() && bytes.getInt(at) == CONTINUATION) {
                at += 4;
            }
            if (at + 4 > bytes.limit() || bytes.getInt(at) < 0 || bytes.getInt(at) > bytes.limit() - at - 4) {
                throw new IOException("an Arrow stream of " + bytes.limit() + " bytes is truncated at " + at);
            }
            MessageResult result = super.readNext();
            if (result != null && result.getMessage().headerType() == MessageHeader.Schema) {
                refuseNested((org.apache.arrow.flatbuf.Schema) result.getMessage()
                        .header(new org.apache.arrow.flatbuf.Schema()));
            }
            return result;
        }

        /** Arrow follows columns in columns without end: bytes can say that one is in itself. */
        private static void refuseNested(org.apache.arrow.flatbuf.Schema schema) throws IOException {
            for (int i = 0; schema != null && i < schema.fieldsLength(); i++) {
                if (schema.fields(i).childrenLength() != 0) {
                    throw new IOException("a batch has columns in column " + i);
                }
            }
        }
    }

    /** Whatever the bytes are, no more memory is taken than they could be an honest batch of. */
    private static void read(Schema schema, byte[] bytes, int offset, int length, Reading reading) throws IOException {
        try (BufferAllocator allocator = new RootAllocator(4L * MOST_BYTES);
                ArrowStreamReader reader = new ArrowStreamReader(
                        new CheckedReader(ByteBuffer.wrap(bytes, offset, length), allocator), allocator)) {
            VectorSchemaRoot rows = reader.getVectorSchemaRoot();
            if (!rows.getSchema().getFields().equals(schema.getFields())) {
                throw new IOException("a batch has the columns " + rows.getSchema());
            }
            while (reader.loadNextBatch()) {
                reading.read(rows);
            }
        } catch (RuntimeException e) {
            throw new IOException("not an Arrow stream of " + schema.getFields().stream().map(Field::getName).toList()
                    + ": " + e.getMessage(), e);
        }
    }
}
