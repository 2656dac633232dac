package org.udckpt.process.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NativeCall;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.linux.User;

/**
 * NVIDIA's driver library, as the CUDA Driver API documents it ("CUDA Checkpointing", CUDA 12.8 and later): functions
 * that suspend and resume another process's CUDA state by its pid, as this process numbers it. Thread-safe; calls about
 * different processes run side by side.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class CudaDriver {
    /** What a program asks the dynamic linker for. */
    public static final String NAME = "libcuda.so.1";
    /** CUDA 13.0: from here on a restore takes pairs of GPUs. */
    public static final int WITH_PAIRS = 13000;
    private static final int ARGUMENTS = 64; // bytes of each CUcheckpoint...Args
    private static final int PAIR = 2 * Gpu.UUID_BYTES, PAIRS_COUNT = 8; // offset in CUcheckpointRestoreArgs
    private static final int OTHERS_WRITE = 022;
    private static final int NAME_BYTES = 256, TEXT_BYTES = 1024;
    private static final List<String> CHECKPOINTING =
            List.of("cuCheckpointProcessLock", "cuCheckpointProcessCheckpoint", "cuCheckpointProcessRestore",
                    "cuCheckpointProcessUnlock", "cuCheckpointProcessGetState",
                    "cuCheckpointProcessGetRestoreThreadId");
    private static final Map<String, CudaDriver> OPENED = new HashMap<>();

    private final SymbolLookup library;
    private final Map<String, MemorySegment> functions = new HashMap<>();
    private final int version;

    private CudaDriver(SymbolLookup library) {
        this.library = library;
        call("cuInit", 0, 0, 0); // a restore needs it, or persistence mode
        this.version = number("cuDriverGetVersion");
    }

    /**
     * The driver, initialized; opened once for each path, and never closed.
     *
     * @param path of the library, or {@link #NAME}, for the dynamic linker to find
     * @return empty: there is no such library, or nothing that can be loaded
     * @throws CudaError where it finds no GPU, or may not use it
     * @throws UntrustedPath where others can change the file: a process of the job may have chosen it
     */
    public static synchronized Optional<CudaDriver> open(String path) {
        CudaDriver known = OPENED.get(path);
        if (known != null) {
            return Optional.of(known);
        }
        Optional<SymbolLookup> library = path.equals(NAME) ? load(NAME) : loadFile(path);
        library.ifPresent(one -> OPENED.put(path, new CudaDriver(one)));
        return Optional.ofNullable(OPENED.get(path));
    }

    private static Optional<SymbolLookup> load(String name) {
        try {
            return Optional.of(SymbolLookup.libraryLookup(name, Arena.global()));
        } catch (IllegalArgumentException notThere) {
            return Optional.empty();
        }
    }

    /** What was looked at is what is loaded. */
    private static Optional<SymbolLookup> loadFile(String path) {
        int fd;
        try {
            fd = Files.open(path, Syscall.O_RDONLY | Syscall.O_NONBLOCK);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT) {
                return Optional.empty();
            }
            throw e;
        }
        try {
            Files.Stat stat = Files.stat(fd);
            if (stat.type() != Files.Stat.REGULAR || !User.isTrusted(stat.uid()) || (stat.mode() & OTHERS_WRITE) != 0) {
                throw new UntrustedPath(path + " is not a library that only you or root can write to, so udckpt does "
                        + "not load it; use the driver's own, or run chmod go-w " + path);
            }
            return load("/proc/self/fd/" + fd);
        } finally {
            Files.close(fd);
        }
    }

    /** Of the CUDA that it supports at most: 1000 * major + 10 * minor. */
    public int version() {
        return version;
    }

    /** {@code 12.8}. */
    public String versionText() {
        return version / 1000 + "." + version % 1000 / 10;
    }

    /** Whether it has all functions that checkpoints need (570 and later). */
    public boolean checkpoints() {
        return CHECKPOINTING.stream().allMatch(name -> library.find(name).isPresent());
    }

    /** All that this process may use, by ordinal. */
    public List<Gpu> gpus() {
        int count = number("cuDeviceGetCount");
        List<Gpu> gpus = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment device = arena.allocate(JAVA_INT), uuid = arena.allocate(Gpu.UUID_BYTES);
            MemorySegment name = arena.allocate(NAME_BYTES), bytes = arena.allocate(JAVA_LONG);
            String ofUuid = library.find("cuDeviceGetUuid_v2").isPresent() ? "cuDeviceGetUuid_v2" : "cuDeviceGetUuid";
            for (int i = 0; i < count; i++) {
                call("cuDeviceGet", device.address(), i, 0);
                int number = device.get(JAVA_INT, 0);
                call(ofUuid, uuid.address(), number, 0);
                call("cuDeviceGetName", name.address(), NAME_BYTES, number);
                call("cuDeviceTotalMem_v2", bytes.address(), number, 0);
                gpus.add(new Gpu(i, Gpu.uuid(uuid.toArray(JAVA_BYTE)), name.getString(0), bytes.get(JAVA_LONG, 0)));
            }
        }
        return gpus;
    }

    /**
     * Calls of the process's that begin from now on wait; returns when what it had submitted has ended.
     *
     * @throws CudaError also when that takes longer: it runs on then
     */
    public void lock(int pid, Duration timeout) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(ARGUMENTS, Long.BYTES);
            arguments.set(JAVA_INT, 0, Math.toIntExact(Math.max(1, timeout.toMillis()))); // 0 would be for ever
            call("cuCheckpointProcessLock", pid, arguments.address(), 0);
        }
    }

    /** The locked process's device memory comes to its host memory, and it lets its GPUs go. */
    public void checkpoint(int pid) {
        call("cuCheckpointProcessCheckpoint", pid, 0, 0);
    }

    /**
     * The suspended process gets GPUs and device memory again, and stays locked.
     *
     * @param pairs empty: the same GPUs; else each that it had is in one
     */
    public void restore(int pid, List<GpuPair> pairs) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(ARGUMENTS, Long.BYTES);
            MemorySegment all = arena.allocate(Math.max(1, pairs.size()) * (long) PAIR, Long.BYTES);
            for (int i = 0; i < pairs.size(); i++) {
                put(all, i * PAIR, pairs.get(i).before());
                put(all, i * PAIR + Gpu.UUID_BYTES, pairs.get(i).after());
            }
            arguments.set(ADDRESS, 0, all);
            arguments.set(JAVA_INT, PAIRS_COUNT, pairs.size());
            call("cuCheckpointProcessRestore", pid, pairs.isEmpty() ? 0 : arguments.address(), 0);
        }
    }

    private static void put(MemorySegment pairs, long at, String uuid) {
        MemorySegment.copy(Gpu.bytes(uuid), 0, pairs, JAVA_BYTE, at, Gpu.UUID_BYTES);
    }

    /** The locked process runs. */
    public void unlock(int pid) {
        call("cuCheckpointProcessUnlock", pid, 0, 0);
    }

    /** Where the process is. */
    public CudaState state(int pid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(JAVA_INT);
            call("cuCheckpointProcessGetState", pid, state.address(), 0);
            return CudaState.of(state.get(JAVA_INT, 0));
        }
    }

    /** Fails unless the process has CUDA state: the driver has a thread there then, which restores it. */
    public void requireState(int pid) {
        try (Arena arena = Arena.ofConfined()) {
            call("cuCheckpointProcessGetRestoreThreadId", pid, arena.allocate(JAVA_INT).address(), 0);
        }
    }

    private int number(String function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(JAVA_INT);
            call(function, number.address(), 0, 0);
            return number.get(JAVA_INT, 0);
        }
    }

    private void call(String function, long a, long b, long c) {
        int result = (int) NativeCall.call(find(function), a, b, c);
        if (result != 0) {
            throw new CudaError(function, result, text("cuGetErrorName", result), text("cuGetErrorString", result));
        }
    }

    private MemorySegment find(String function) {
        synchronized (functions) {
            MemorySegment known = functions.get(function);
            if (known == null) {
                known = library.find(function).orElseThrow(() -> new CudaError(function, CudaError.NOT_SUPPORTED,
                        "CUDA_ERROR_NOT_SUPPORTED", "the driver has no such function; 570 or later is needed"));
                functions.put(function, known);
            }
            return known;
        }
    }

    /** What the driver calls an error; null: nothing. */
    private String text(String function, int error) {
        MemorySegment of = library.find(function).orElse(null);
        if (of == null) {
            return null;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(ADDRESS);
            NativeCall.call(of, error, text.address(), 0);
            MemorySegment found = text.get(ADDRESS, 0);
            return found.equals(MemorySegment.NULL) ? null : found.reinterpret(TEXT_BYTES).getString(0);
        }
    }
}
