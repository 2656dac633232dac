package org.udckpt.address;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.udckpt.image.ImageError;
import org.udckpt.image.table.ArrowFile;
import org.udckpt.image.table.ColumnBuffers;

/**
 * Reads the file of an {@link AddressMapFile}. An image may be damaged, or somebody else's: each value is checked
 * before it is used. A value that no map holds is an {@link IllegalArgumentException}, which {@link ArrowFile} turns
 * into an error of the file.
 */
final class AddressMapReader implements ArrowFile.Contents {
    /** More metadata than any version has written, so that a file cannot name one long text again and again. */
    private static final int MOST_METADATA = 16;
    private static final List<String> SIDES = List.of("virtual", "real");

    private final Map<String, String> metadata = new HashMap<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    /** Images of before it was have none: the ranks say it anew. */
    private boolean hasTransport;

    @Override
    public void schema(Schema schema, long where) {
        require(schema != null && schema.endianness() == Endianness.Little, "no little-endian schema");
        require(schema.customMetadataLength() <= MOST_METADATA, schema.customMetadataLength() + " metadata");
        for (int i = 0; i < schema.customMetadataLength(); i++) {
            KeyValue entry = schema.customMetadata(i);
            metadata.put(entry.key(), entry.value());
        }
        hasTransport = schema.fieldsLength() == 8;
        int next = 0;
        checkNumber(schema, next++, "rank", false);
        if (hasTransport) {
            checkNumber(schema, next++, "transport", false);
        }
        for (String side : SIDES) {
            boolean nullable = side.equals("real");
            checkNumber(schema, next++, side + "_lid", nullable);
            checkNumber(schema, next++, side + "_qpn", nullable);
            check(schema, next, side + "_gid", nullable, Type.FixedSizeBinary);
            require(((FixedSizeBinary) schema.fields(next++).type(new FixedSizeBinary())).byteWidth() == Gid.BYTES,
                    "a GID is not of " + Gid.BYTES + " bytes");
        }
        require(schema.fieldsLength() == next, schema.fieldsLength() + " columns");
    }

    private static void checkNumber(Schema schema, int index, String name, boolean nullable) {
        check(schema, index, name, nullable, Type.Int);
        Int type = (Int) schema.fields(index).type(new Int());
        require(type.isSigned() && type.bitWidth() == 32, "column '" + name + "' is not of 32-bit numbers");
    }

    private static void check(Schema schema, int index, String name, boolean nullable, byte type) {
        require(index < schema.fieldsLength(), "missing column '" + name + "'");
        Field field = schema.fields(index);
        require(name.equals(field.name()) && field.nullable() == nullable && field.typeType() == type
                && field.childrenLength() == 0 && field.dictionary() == null,
                "column " + index + " is not '" + name + "' as it is written");
    }

    @Override
    public void batch(int rows, ColumnBuffers buffers) throws ImageError {
        Column ranks = Column.read(buffers, "rank", rows, Integer.BYTES);
        Column transports = hasTransport ? Column.read(buffers, "transport", rows, Integer.BYTES) : null;
        Side virtual = Side.read(buffers, "virtual", rows);
        Side real = Side.read(buffers, "real", rows);
        buffers.checkAllUsed();
        for (int row = 0; row < rows; row++) {
            require(ranks.has(row) && ranks.number(row) >= 0 && virtual.has(row),
                    "row " + row + " has no rank or no virtual address");
            endpoints
                    .add(new Endpoint(ranks.number(row), virtual.address(row), real.has(row) ? real.address(row) : null,
                            transports == null ? Transport.UD : Transport.of(transports.number(row))));
        }
    }

    /** The map that was read. @throws IllegalArgumentException where no map was written so */
    AddressMap map() {
        List<HostAddress> hosts = hosts(text(AddressMapFile.HOSTS), metadata.containsKey(AddressMapFile.HOST_LIDS)
                ? number(AddressMapFile.HOST_LIDS, 1, AddressMap.LAST_LID) : 1);
        // The last incarnation is the one that has no next.
        AddressMap map = new AddressMap(number(AddressMapFile.GENERATION, 0, Integer.MAX_VALUE - 1), endpoints, hosts,
                number(AddressMapFile.NEXT_LID, 0, VerbsAddress.MAX_LID));
        map.restore(hosts, number(AddressMapFile.NEXT_QPN, 0, VerbsAddress.MAX_QPN));
        return map;
    }

    private static List<HostAddress> hosts(String text, int lids) {
        return text.lines().map(line -> host(line.split(" ", 4), line, lids)).toList();
    }

    /** Later the LIDs of a host are taken one by one, so they must be as few as there can be. */
    private static HostAddress host(String[] words, String line, int lids) {
        require(words.length == 4, "host '" + line + "'");
        HostAddress host = new HostAddress(words[3], Integer.parseInt(words[0]), lids, Integer.parseInt(words[1]),
                Integer.parseInt(words[2]));
        require(host.lid() >= 0 && host.lid() <= VerbsAddress.MAX_LID && host.qpnFirst() >= 0
                && host.qpnLast() >= host.qpnFirst() && host.qpnLast() <= VerbsAddress.MAX_QPN,
                "host '" + line + "'");
        return host;
    }

    private int number(String key, int least, int most) {
        int number = Integer.parseInt(text(key));
        require(number >= least && number <= most, key + " is " + number);
        return number;
    }

    private String text(String key) {
        String value = metadata.get(key);
        require(value != null, "the Arrow schema has no metadata " + key);
        return value;
    }

    private static void require(boolean right, String otherwise) {
        if (!right) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** A column whose values have {@code width} bytes each. @param validity null: all are there */
    private record Column(ByteBuffer validity, ByteBuffer values) {
        static Column read(ColumnBuffers buffers, String name, int rows, int width) throws ImageError {
            buffers.node(rows, name);
            return new Column(buffers.validity(rows, name), buffers.buffer((long) width * rows, name));
        }

        boolean has(int row) {
            return validity == null || (validity.get(row >>> 3) >>> (row & 7) & 1) != 0;
        }

        int number(int row) {
            return values.getInt(Integer.BYTES * row);
        }
    }

    /** The three columns of one side's addresses. */
    private record Side(Column lids, Column qpns, Column gids) {
        static Side read(ColumnBuffers buffers, String side, int rows) throws ImageError {
            return new Side(Column.read(buffers, side + "_lid", rows, Integer.BYTES),
                    Column.read(buffers, side + "_qpn", rows, Integer.BYTES),
                    Column.read(buffers, side + "_gid", rows, Gid.BYTES));
        }

        boolean has(int row) {
            require(lids.has(row) == qpns.has(row) && lids.has(row) == gids.has(row),
                    "row " + row + " has half an address");
            return lids.has(row);
        }

        VerbsAddress address(int row) {
            byte[] gid = new byte[Gid.BYTES];
            gids.values.get(row * Gid.BYTES, gid);
            return new VerbsAddress(lids.number(row), Gid.read(gid, 0), qpns.number(row));
        }
    }
}
