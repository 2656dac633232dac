package org.udckpt.process.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.process.model.BrokenTable;

/** The driver by its documented names, on the stand-in of the system tests, which has no GPU without its directory. */
@Timeout(60)
class CudaDriverTest {
    private static final String UUID = "GPU-00112233-4455-6677-8899-aabbccddeeff";

    @Test
    void errorsHaveTheDriversNames() {
        assertEquals(Optional.empty(), CudaDriver.open("/nowhere/libcuda.so.1"));
        String standin = Path.of(System.getProperty("udckpt.native"), "standin-cuda/libcuda.so.1").toString();
        CudaError error = assertThrows(CudaError.class, () -> CudaDriver.open(standin));
        assertEquals("cuInit: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)", error.getMessage());
        assertEquals(100, error.code());
    }

    /** A process of the job says where its library is: nobody else's code runs in the agent. */
    @Test
    void whatOthersCanWriteIsNotLoaded() throws Exception {
        Path library = Files.createTempFile("udckpt-libcuda", ".so");
        try {
            Files.setPosixFilePermissions(library, PosixFilePermissions.fromString("rwxrwxrwx"));
            assertThrows(UntrustedPath.class, () -> CudaDriver.open(library.toString()));
            assertThrows(UntrustedPath.class, () -> CudaDriver.open("/dev/null"));
            Files.setPosixFilePermissions(library, PosixFilePermissions.fromString("rwxr-xr-x"));
            assertEquals(Optional.empty(), CudaDriver.open(library.toString()));
        } finally {
            Files.delete(library);
        }
    }

    @Test
    void statesHaveTheDocumentedNumbers() {
        assertEquals(List.of(CudaState.RUNNING, CudaState.LOCKED, CudaState.CHECKPOINTED, CudaState.FAILED),
                List.of(CudaState.of(0), CudaState.of(1), CudaState.of(2), CudaState.of(3)));
        assertThrows(CudaError.class, () -> CudaState.of(-1));
        assertThrows(CudaError.class, () -> CudaState.of(99));
    }

    @Test
    void uuidsAreAsNvidiaSmiPrintsThem() {
        assertEquals(UUID, Gpu.uuid(Gpu.bytes(UUID)));
        for (String wrong : List.of("", "GPU-", UUID + "0", UUID.toUpperCase(java.util.Locale.ROOT), "GPU-" + UUID)) {
            assertThrows(IllegalArgumentException.class, () -> Gpu.bytes(wrong), wrong);
        }
    }

    private static void assertGpusRefused(String why, Gpu... rows) {
        assertTrue(assertThrows(BrokenTable.class, () -> Gpu.check(List.of(rows))).getMessage().contains(why), why);
    }

    private static void assertTimesRefused(String why, CudaTimes... rows) {
        assertTrue(assertThrows(BrokenTable.class, () -> CudaTimes.check(List.of(rows), Set.of(7))).getMessage()
                .contains(why), why);
    }

    @Test
    void lyingTablesAreRefused() throws BrokenTable {
        Gpu gpu = new Gpu(0, UUID, "kind", 1);
        CudaTimes times = new CudaTimes(7, "/libcuda.so.1", 1, 2, 3, 4);
        Gpu.check(List.of(gpu));
        CudaTimes.check(List.of(times), Set.of(7));
        assertGpusRefused("row 0: ordinal 1", new Gpu(1, UUID, "kind", 1));
        assertGpusRefused("row 1: duplicate UUID", gpu, new Gpu(1, UUID, "kind", 1));
        assertGpusRefused("row 0: no UUID", new Gpu(0, "../..", "kind", 1));
        assertGpusRefused("row 0: a memory of -1", new Gpu(0, UUID, "kind", -1));
        assertTimesRefused("row 0: pid 8 is not", new CudaTimes(8, "/libcuda.so.1", 1, 2, 3, 4));
        assertTimesRefused("row 1: duplicate pid 7", times, times);
        assertTimesRefused("row 0: its library", new CudaTimes(7, "libcuda.so.1", 1, 2, 3, 4));
        assertTimesRefused("row 0: a time below zero", new CudaTimes(7, "/libcuda.so.1", 1, 2, 3, -4));
    }
}
