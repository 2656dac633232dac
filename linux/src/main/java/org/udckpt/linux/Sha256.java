package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;

/**
 * SHA-256 of bytes that come one part after the other: by the system's libcrypto (SHA256_Init(3)), which uses the
 * processor's own instructions also in a JVM that has compiled nothing yet; else the JDK's.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public abstract sealed class Sha256 {
    public static final int BYTES = 32;

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
        private static final Optional<MethodHandle> INIT = find("SHA256_Init"), UPDATE = find("SHA256_Update"),
                FINAL = find("SHA256_Final");
        static final boolean THERE = INIT.isPresent() && UPDATE.isPresent() && FINAL.isPresent();

        private final MemorySegment context = Arena.ofAuto().allocate(CONTEXT_BYTES, Long.BYTES);
        private final MemorySegment digest = Arena.ofAuto().allocate(BYTES);

        Native() {
            call(INIT.orElseThrow(), context.address(), 0, 0);
        }

        /**
         * All in one shape: a function takes no notice of arguments that it does not have, and each shape costs a young
         * JVM some 10 ms.
         */
        private static Optional<MethodHandle> find(String name) {
            return Libcrypto.find(name).map(function -> Linker.nativeLinker()
                    .downcallHandle(function, FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG)));
        }

        private static void call(MethodHandle function, long a, long b, long c) {
            try {
                long ignored = (long) function.invokeExact(a, b, c);
            } catch (Throwable e) {
                throw new AssertionError("a hash function threw", e);
            }
        }

        @Override
        public void add(MemorySegment part) {
            call(UPDATE.orElseThrow(), context.address(), part.address(), part.byteSize());
            Reference.reachabilityFence(part);
        }

        @Override
        public byte[] finish() {
            call(FINAL.orElseThrow(), digest.address(), context.address(), 0);
            call(INIT.orElseThrow(), context.address(), 0, 0);
            return digest.toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
