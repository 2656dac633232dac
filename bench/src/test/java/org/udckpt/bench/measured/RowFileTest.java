package org.udckpt.bench.measured;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;

class RowFileTest {
    private static final List<Row> ROWS = List.of(new Row.Fact("processor", "one, \"fast\""),
            new Row.Run("t1", "npb:cg.A", 2, "run", "ud", "native", 1, 12_000_000_000L, "Mop/s", true, 1_234_560_000L,
                    true, "ended well", null, 1500,
                    "UCX_TLS=ud_verbs,self udckpt run"),
            new Row.Checkpoint("t1", "ckpt-0001", 1L << 30, 1L << 29, 31_000_000, 30_000_000, 2_000_000_000),
            new Row.Phase("t1", "ckpt-0001", "drain", 1_000_000),
            new Row.Restart("t1", "ckpt-0001", 600_000_000, 1L << 30));

    @TempDir
    Path directory;

    @Test
    void rowsComeBack() throws Exception {
        Path file = directory.resolve(RowFile.NAME);
        RowFile.write(file, ROWS);
        assertEquals(ROWS, RowFile.read(file));
        try (var files = Files.list(directory)) {
            assertEquals(List.of(file), files.toList(), "nothing is left beside it");
        }
    }

    @Test
    void whatIsNoSuchFileIsNamed() throws Exception {
        Path file = directory.resolve("x.arrow");
        Files.writeString(file, "rows");
        assertThrows(ImageError.class, () -> RowFile.read(file));
    }

    @Test
    void csvHasTheSame() {
        List<String> lines = RowText.csv(ROWS);
        assertEquals(
                "kind,name,value,trial,workload,ranks,launcher,transport,mode,"
                        + "repeat,ns,unit,isRate,figureMillionths,right,words,known,"
                        + "loadThousandths,command,"
                        + "checkpoint,bytes,stored,stopNs,medianStopNs,writeNs,phase",
                lines.getFirst());
        assertEquals("Fact,processor,\"one, \"\"fast\"\"\"" + ",".repeat(23), lines.get(1));
        assertEquals(
                "Run,,,t1,npb:cg.A,2,run,ud,native,1,12000000000,Mop/s,true,1234560000,true,ended "
                        + "well,,1500,\"UCX_TLS=ud_verbs,self udckpt run\",,,,,,,",
                lines.get(2));
    }
}
