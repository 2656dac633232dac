package org.udckpt.address;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.udckpt.image.ImageError;
import org.udckpt.image.table.ArrowFile;

/**
 * The address map as an Arrow IPC file, for the image: one row an endpoint (rank, virtual and real LID, GID, QPN; the
 * real ones null where there are none); generation, hosts and cursors in the schema's metadata.
 */
public final class AddressMapFile {
    static final String GENERATION = "udckpt.generation";
    static final String HOSTS = "udckpt.hosts";
    static final String HOST_LIDS = "udckpt.host_lids"; // absent in images of before hosts had several ports: 1
    static final String NEXT_QPN = "udckpt.next_qpn";
    static final String NEXT_LID = "udckpt.next_lid";

    /** In the place of a file in errors: a map is a value within a table of the image. */
    private static final Path NAME = Path.of("address map");

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

    /**
     * The map that {@link #write} wrote, of the same generation; every length in the bytes is checked before it is
     * used.
     *
     * @throws ImageError.Corrupt if the bytes are not such a file; it names {@link #NAME}, and who knows where the
     *     bytes are from names that too
     */
    public static AddressMap read(byte[] bytes) throws ImageError {
        AddressMapReader reader = new AddressMapReader();
        ArrowFile.read(ByteBuffer.wrap(bytes), NAME, reader);
        try {
            return reader.map();
        } catch (IllegalArgumentException e) {
            throw new ImageError.Corrupt(NAME, -1, e.getMessage(), e);
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
            fields.add(new Field(side + "_gid", new FieldType(nullable, new ArrowType.FixedSizeBinary(Gid.BYTES), null),
                    null));
        }
        return new Schema(fields, metadata);
    }

    private static Map<String, String> metadata(AddressMap map) {
        StringBuilder hosts = new StringBuilder();
        for (HostAddress host : map.hosts()) {
            hosts.append(host.lid()).append(' ').append(host.qpnFirst()).append(' ').append(host.qpnLast()).append(' ')
                    .append(host.name()).append('\n');
        }
        return Map.of(HOST_LIDS, Integer.toString(map.lidsOfAHost()), GENERATION, Integer.toString(map.generation()),
                HOSTS, hosts.toString(),
                NEXT_QPN, Integer.toString(map.nextQpn()), NEXT_LID, Integer.toString(map.cursor()));
    }

    private static void set(VectorSchemaRoot root, String side, int row, VerbsAddress address) {
        if (address != null) {
            ((IntVector) root.getVector(side + "_lid")).setSafe(row, address.lid());
            ((IntVector) root.getVector(side + "_qpn")).setSafe(row, address.qpn());
            ((FixedSizeBinaryVector) root.getVector(side + "_gid")).setSafe(row, address.gid().bytes());
        }
    }
}
