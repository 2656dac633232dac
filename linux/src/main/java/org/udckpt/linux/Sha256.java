package org.udckpt.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;

/**
 * SHA-256 of bytes that come one part after the other: by the system's libcrypto (SHA256_Init(3)), which uses the
 * processor's own instructions also in a JVM that has compiled nothing yet; else the JDK's.
 */
public abstract sealed class Sha256 {
    public static final int BYTES = 32;
    /** So many at a time are copied to native memory. */
    private static final int COPIED = 1 << 14;

    /** Of all these bytes, one after the other. */
    public static byte[] of(byte[]... parts) {
        Sha256 digest = create();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(COPIED, Long.BYTES);
            for (byte[] part : parts) {
                for (int at = 0; at < part.length; at += COPIED) {
                    int length = Math.min(COPIED, part.length - at);
                    MemorySegment.copy(part, at, copy, ValueLayout.JAVA_BYTE, 0, length);
                    digest.add(copy.asSlice(0, length));
                }
            }
            return digest.finish();
        }
    }

    /** For native memory, one digest after the other, in one thread. */
    public static Sha256 create() {
        return Native.THERE ? new Native() : new Jdk();
    }

    public abstract void add(MemorySegment part);

    /** The digest of all that was added; then it begins anew. */
    public abstract byte[] finish();

    /** By the JDK. */
    static final class Jdk extends Sha256 {
        private final MessageDigest digest;

        Jdk() {
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException everyJdkHasIt) {
                throw new AssertionError(everyJdkHasIt);
            }
        }

        @Override
        public void add(MemorySegment part) {
            digest.update(part.asByteBuffer());
        }

        @Override
        public byte[] finish() {
            return digest.digest();
        }
    }

    /** By libcrypto. */
    static final class Native extends Sha256 {
        private static final int CONTEXT_BYTES = 112; // SHA256_CTX of openssl/sha.h
        private static final Optional<MemorySegment> INIT = Libcrypto.find("SHA256_Init"),
                UPDATE = Libcrypto.find("SHA256_Update"), FINAL = Libcrypto.find("SHA256_Final");
        static final boolean THERE = INIT.isPresent() && UPDATE.isPresent() && FINAL.isPresent();

        private final MemorySegment context = Arena.ofAuto().allocate(CONTEXT_BYTES, Long.BYTES);
        private final MemorySegment digest = Arena.ofAuto().allocate(BYTES);

        Native() {
            call(INIT, context.address(), 0, 0);
        }

        private static void call(Optional<MemorySegment> function, long a, long b, long c) {
            NativeCall.call(function.orElseThrow(), a, b, c);
        }

        @Override
        public void add(MemorySegment part) {
            call(UPDATE, context.address(), part.address(), part.byteSize());
            Reference.reachabilityFence(part);
        }

        @Override
        public byte[] finish() {
            call(FINAL, digest.address(), context.address(), 0);
            call(INIT, context.address(), 0, 0);
            return digest.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
