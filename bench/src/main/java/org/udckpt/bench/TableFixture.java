package org.udckpt.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.address.AddressMap;
import org.udckpt.address.AddressMapFile;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.address.TranslationTable;
import org.udckpt.address.VerbsAddress;

/**
 * Makes the translation table of a large job as a restart does, and times it: the map is read from its Arrow file, each
 * rank registers its queue pairs at their new addresses, and all of them are put into the table.
 * Arguments: directory, ranks, queue pairs a rank, ranks a host. The keys go to the file "keys" there.
 */
public final class TableFixture {
    private static final int FIRST_QPN = 3000;

    private TableFixture() {}

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        int ranks = Integer.parseInt(arguments[1]);
        int pairs = Integer.parseInt(arguments[2]);
        int ranksOfHost = Integer.parseInt(arguments[3]);
        AddressMap first = new AddressMap();
        fill(first, first, ranks, pairs, ranksOfHost);
        byte[] image = AddressMapFile.write(first);
        StringBuilder keys = new StringBuilder();
        first.endpoints()
                .forEach(e -> keys.append(e.virtual().lid()).append(' ').append(e.virtual().qpn()).append('\n'));
        Files.writeString(directory.resolve("keys"), keys);

        // A restart has read other tables of the image by then: Arrow's own start is not part of this.
        AddressMapFile.read(AddressMapFile.write(new AddressMap()));
        long start = System.nanoTime();
        AddressMap next = AddressMapFile.read(image).nextIncarnation();
        long read = System.nanoTime();
        fill(next, first, ranks, pairs, ranksOfHost);
        long registered = System.nanoTime();
        try (TranslationTable table =
                TranslationTable.create(directory.resolve("table"), ranks * pairs, next.generation())) {
            table.putAll(next);
            long loaded = System.nanoTime();
            System.out.printf(
                    "%d ranks x %d queue pairs: image read %.1f ms, addresses given %.1f ms, table loaded %.1f ms%n",
                    ranks, pairs,
                    (read - start) / 1e6, (registered - read) / 1e6, (loaded - registered) / 1e6);
        }
    }

    /**
     * Each rank's queue pairs, at the addresses of this incarnation's hosts; the virtual ones are those of the first
     * incarnation.
     */
    private static void fill(AddressMap map, AddressMap virtual, int ranks, int pairs, int ranksOfHost) {
        Endpoint[] known = map == virtual ? null : virtual.endpoints().toArray(Endpoint[]::new);
        HostAddress host = null;
        for (int rank = 0; rank < ranks; rank++) {
            if (rank % ranksOfHost == 0) {
                host = map.newHost("node" + rank / ranksOfHost);
            }
            for (int pair = 0; pair < pairs; pair++) {
                int qpn = FIRST_QPN + rank % ranksOfHost * pairs + pair;
                VerbsAddress real = new VerbsAddress(host.lid(), Gid.ZERO, map == virtual ? qpn : qpn + 5);
                VerbsAddress wanted = known == null ? real : known[rank * pairs + pair].virtual();
                map.register(rank, known == null ? 0 : wanted.qpn(), wanted, real);
            }
        }
    }
}
