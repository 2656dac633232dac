package org.udckpt.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Debian's NWChem: Global Arrays over ARMCI-MPI's one-sided windows; nobody here wrote it. */
final class Nwchem {
    private static final int MOLECULES = 4;
    private static final double TOLERANCE = 1e-10; // hartree
    private static final double SPACING = 2.9; // angstrom, about the distance of oxygens in liquid water

    private Nwchem() {}

    /**
     * A self-consistent field energy of a few water molecules, started far from its solution so that it takes
     * some iterations. The energies are printed to 1e-12 hartree; NWChem hands its tasks to whoever asks first, so
     * that sums are rounded differently from run to run and the last digits of two undisturbed runs differ too.
     */
    static Application water(Path directory) throws IOException {
        Path input = directory.resolve("water.nw");
        Files.writeString(input, input());
        // ARMCI's windows from MPI_Win_allocate would be shared memory between ranks; these are private.
        Map<String, String> environment = Map.of("ARMCI_USE_WIN_ALLOCATE", "0");
        return new Application("nwchem", List.of("/usr/bin/nwchem.mpich", input.toString()), environment,
                line -> line.matches("\\s+\\d+\\s+-\\d+\\.\\d+\\s+\\S+\\s+\\S+\\s+\\d+\\.\\d+"), 2,
                line -> line.contains("Total SCF energy"), TOLERANCE);
    }

    private static String input() {
        var text = new StringBuilder("""
                start water
                memory total 200 mb
                geometry units angstrom noautosym noautoz
                """);
        for (int i = 0; i < MOLECULES; i++) {
            double x = SPACING * (i % 2);
            double y = SPACING * (i / 2 % 2);
            double z = SPACING * (i / 4);
            text.append(atom("O", x, y, z)).append(atom("H", x + 0.757, y + 0.586, z)).append(atom("H", x - 0.757, y + 0.586, z));
        }
        return text.append("""
                end
                basis
                  * library 6-311++g**
                end
                scf
                  direct
                  thresh 1e-8
                  maxiter 60
                end
                task scf energy
                """).toString();
    }

    private static String atom(String element, double x, double y, double z) {
        return String.format(Locale.ROOT, "  %s %9.4f %9.4f %9.4f%n", element, x, y, z);
    }
}
