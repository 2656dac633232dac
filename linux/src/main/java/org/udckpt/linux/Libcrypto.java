package org.udckpt.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.Optional;

/**
 * The system's libcrypto (OpenSSL): version 3 or, on older distributions, 1.1. The functions that are called here are
 * the same in both.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class Libcrypto {
    private static final List<String> NAMES = List.of("libcrypto.so.3", "libcrypto.so.1.1");

    /** Loaded at the first use. */
    private static final class Loaded {
        static final Optional<SymbolLookup> LIBRARY =
                NAMES.stream().map(Loaded::load).flatMap(Optional::stream).findFirst();

        private static Optional<SymbolLookup> load(String name) {
            try {
                return Optional.of(SymbolLookup.libraryLookup(name, Arena.global()));
            } catch (IllegalArgumentException notThere) {
                return Optional.empty();
            }
        }
    }

    private Libcrypto() {}

    /** Whether this system has one. */
    public static boolean there() {
        return Loaded.LIBRARY.isPresent();
    }

    /** The address of a function; empty where there is no libcrypto, or no such function in it. */
    public static Optional<MemorySegment> find(String function) {
        return Loaded.LIBRARY.flatMap(library -> library.find(function));
    }
}
