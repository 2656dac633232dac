package org.udckpt.address;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.InvalidArrowFileException;
import org.apache.arrow.vector.ipc.SeekableReadChannel;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;

/**
 * The address map as an Arrow IPC file, for the image: one row an endpoint (rank, virtual and real LID, GID, QPN; the
 * real ones null where there are none); generation, hosts and cursors in the schema's metadata.
 */
public final class AddressMapFile {
    private static final String GENERATION = "udckpt.generation";
    private static final String HOSTS = "udckpt.hosts";
    private static final String HOST_LIDS = "udckpt.host_lids"; // absent in images of before hosts had several ports: 1
    private static final String NEXT_QPN = "udckpt.next_qpn";
    private static final String NEXT_LID = "udckpt.next_lid";

    private AddressMapFile() {}

    /** The whole map as the bytes of an Arrow IPC file. */
    public static byte[] write(AddressMap map) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        List<Endpoint> endpoints = map.endpoints();
        try (BufferAllocator allocator = new RootAllocator();
                VectorSchemaRoot root = VectorSchemaRoot.create(schema(metadata(map)), allocator);
                ArrowFileWriter writer = new ArrowFileWriter(root, null, Channels.newChannel(bytes))) {
            root.allocateNew();
            for (int row = 0; row < endpoints.size(); row++) {
                Endpoint endpoint = endpoints.get(row);
                ((IntVector) root.getVector("rank")).setSafe(row, endpoint.rank());
                ((IntVector) root.getVector("transport")).setSafe(row, endpoint.transport().code());
                set(root, "virtual", row, endpoint.virtual());
                set(root, "real", row, endpoint.real());
            }
            root.setRowCount(endpoints.size());
            writer.start();
            writer.writeBatch();
            writer.end();
        }
        return bytes.toByteArray();
    }

    /** The map that {@link #write} wrote, of the same generation. @throws IOException if the bytes are not such a file. */
    public static AddressMap read(byte[] bytes) throws IOException {
        try (BufferAllocator allocator = new RootAllocator();
                ArrowFileReader reader = new ArrowFileReader(
                        new SeekableReadChannel(new ByteArrayReadableSeekableByteChannel(bytes)), allocator)) {
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            Map<String, String> metadata = root.getSchema().getCustomMetadata();
            List<Endpoint> endpoints = new ArrayList<>();
            while (reader.loadNextBatch()) {
                Column virtual = new Column(root, "virtual");
                Column real = new Column(root, "real");
                IntVector ranks = (IntVector) root.getVector("rank");
                IntVector transports = (IntVector) root.getVector("transport"); // images of before have none: the ranks say it anew
                for (int row = 0; row < root.getRowCount(); row++) {
                    endpoints.add(new Endpoint(ranks.get(row), virtual.get(row), real.get(row),
                            transports == null ? Transport.UD : Transport.of(transports.get(row))));
                }
            }
            List<HostAddress> hosts = hosts(required(metadata, HOSTS), Integer.parseInt(metadata.getOrDefault(HOST_LIDS, "1")));
            AddressMap map = new AddressMap(number(metadata, GENERATION), endpoints, hosts, number(metadata, NEXT_LID));
            map.restore(hosts, number(metadata, NEXT_QPN));
            return map;
        } catch (IllegalArgumentException | InvalidArrowFileException e) {
            throw new IOException("address map: " + e.getMessage(), e);
        }
    }

    private static Schema schema(Map<String, String> metadata) {
        List<Field> fields = new ArrayList<>();
        fields.add(Field.notNullable("rank", new ArrowType.Int(32, true)));
        fields.add(Field.notNullable("transport", new ArrowType.Int(32, true)));
        for (String side : List.of("virtual", "real")) {
            boolean nullable = side.equals("real");
            ArrowType number = new ArrowType.Int(32, true);
            fields.add(new Field(side + "_lid", new FieldType(nullable, number, null), null));
            fields.add(new Field(side + "_qpn", new FieldType(nullable, number, null), null));
            fields.add(new Field(side + "_gid", new FieldType(nullable, new ArrowType.FixedSizeBinary(Gid.BYTES), null), null));
        }
        return new Schema(fields, metadata);
    }

    private static Map<String, String> metadata(AddressMap map) {
        StringBuilder hosts = new StringBuilder();
        for (HostAddress host : map.hosts()) {
            hosts.append(host.lid()).append(' ').append(host.qpnFirst()).append(' ').append(host.qpnLast()).append(' ')
                    .append(host.name()).append('\n');
        }
        return Map.of(HOST_LIDS, Integer.toString(map.lidsOfAHost()), GENERATION, Integer.toString(map.generation()), HOSTS, hosts.toString(),
                NEXT_QPN, Integer.toString(map.nextQpn()), NEXT_LID, Integer.toString(map.cursor()));
    }

    private static List<HostAddress> hosts(String text, int lids) {
        return text.lines().map(line -> line.split(" ", 4))
                .map(w -> new HostAddress(w[3], Integer.parseInt(w[0]), lids, Integer.parseInt(w[1]), Integer.parseInt(w[2]))).toList();
    }

    private static void set(VectorSchemaRoot root, String side, int row, VerbsAddress address) {
        if (address != null) {
            ((IntVector) root.getVector(side + "_lid")).setSafe(row, address.lid());
            ((IntVector) root.getVector(side + "_qpn")).setSafe(row, address.qpn());
            ((FixedSizeBinaryVector) root.getVector(side + "_gid")).setSafe(row, address.gid().bytes());
        }
    }

    /** The three vectors of one side's addresses. */
    private record Column(IntVector lids, IntVector qpns, FixedSizeBinaryVector gids) {
        Column(VectorSchemaRoot root, String side) {
            this((IntVector) root.getVector(side + "_lid"), (IntVector) root.getVector(side + "_qpn"), (FixedSizeBinaryVector) root.getVector(side + "_gid"));
        }

        VerbsAddress get(int row) {
            if (lids.isNull(row)) {
                return null;
            }
            long at = (long) row * Gid.BYTES; // Arrow buffers are little-endian, a GID is in network order
            Gid gid = new Gid(Long.reverseBytes(gids.getDataBuffer().getLong(at)), Long.reverseBytes(gids.getDataBuffer().getLong(at + Long.BYTES)));
            return new VerbsAddress(lids.get(row), gid, qpns.get(row));
        }
    }

    private static int number(Map<String, String> metadata, String key) throws IOException {
        return Integer.parseInt(required(metadata, key));
    }

    private static String required(Map<String, String> metadata, String key) throws IOException {
        String value = metadata == null ? null : metadata.get(key);
        if (value == null) {
            throw new IOException("address map: the Arrow schema has no metadata " + key);
        }
        return value;
    }
}
