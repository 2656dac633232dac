package org.udckpt.image.key;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * AES-256-GCM of OpenSSL's libcrypto (EVP_EncryptInit(3)), in place. The JDK's own is as fast once it is compiled, but
 * in a young JVM it does some 60 MB/s for the first seconds, just when the first image is written. For one thread.
 */
final class AesGcm {
    private static final int SET_IV_LENGTH = 0x9, GET_TAG = 0x10, SET_TAG = 0x11; // EVP_CTRL_AEAD_*
    private static final String NAME = "libcrypto.so.3";
    private static final Linker LINKER = Linker.nativeLinker();

    private final MemorySegment context;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment key;
    private final MemorySegment nonce = arena.allocate(ImageCipher.NONCE_BYTES);
    private final MemorySegment tag = arena.allocate(ImageCipher.TAG_BYTES);
    private final MemorySegment count = arena.allocate(JAVA_INT);
    private final MemorySegment trailing = arena.allocate(32);

    /** libcrypto's functions; bound at first use, so that who does not encrypt does not need them. */
    private static final class Functions {
        static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(NAME, Arena.global());
        static final MemorySegment CIPHER = (MemorySegment) invoke(bind("EVP_aes_256_gcm", ADDRESS));
        static final MethodHandle NEW = bind("EVP_CIPHER_CTX_new", ADDRESS);
        static final MethodHandle FREE = LINKER.downcallHandle(find("EVP_CIPHER_CTX_free"), FunctionDescriptor.ofVoid(ADDRESS));
        static final MethodHandle CONTROL = bind("EVP_CIPHER_CTX_ctrl", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
        static final MethodHandle INIT = bind("EVP_CipherInit_ex", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle UPDATE = bind("EVP_CipherUpdate", JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_INT);
        static final MethodHandle FINAL = bind("EVP_CipherFinal_ex", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);

        private static MemorySegment find(String name) {
            return LIBRARY.find(name).orElseThrow();
        }

        private static MethodHandle bind(String name, MemoryLayout result, MemoryLayout... arguments) {
            return LINKER.downcallHandle(find(name), FunctionDescriptor.of(result, arguments));
        }
    }

    /** Whether there is a libcrypto. */
    static boolean there() {
        try (Arena trial = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(NAME, trial);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** @throws IOException saying what to install, where libcrypto is not there */
    static void require() throws IOException {
        if (!there()) {
            throw new IOException("encryption needs OpenSSL's " + NAME + " (Debian: apt install libssl3)");
        }
    }

    /** @param secret 32 bytes */
    AesGcm(byte[] secret) {
        key = arena.allocateFrom(ValueLayout.JAVA_BYTE, secret);
        MemorySegment made = (MemorySegment) invoke(Functions.NEW);
        if (made.address() == 0) {
            throw new OutOfMemoryError("EVP_CIPHER_CTX_new");
        }
        context = made.reinterpret(arena, unused -> invoke(Functions.FREE, unused)); // alive as long as a call has it
        check(invoke(Functions.INIT, context, Functions.CIPHER, MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL, 1), "EVP_CipherInit_ex");
        check(invoke(Functions.CONTROL, context, SET_IV_LENGTH, ImageCipher.NONCE_BYTES, MemorySegment.NULL), "EVP_CTRL_AEAD_SET_IVLEN");
    }

    /** Encrypts the first {@code length} bytes in place; {@code seal} holds the nonce and receives the tag behind it. */
    void encrypt(MemorySegment bytes, int length, byte[] seal) {
        begin(seal, 1);
        update(bytes, length);
        end(seal);
    }

    /** Encrypts nothing: the first {@code length} bytes are additional data; {@code seal} holds the nonce and receives the tag behind it. */
    void tag(MemorySegment bytes, int length, byte[] seal) {
        begin(seal, 1);
        if (length > 0) {
            check(invoke(Functions.UPDATE, context, MemorySegment.NULL, count, bytes, length), "EVP_CipherUpdate");
        }
        end(seal);
    }

    /** Decrypts the first {@code length} bytes in place; false when they are not what was sealed, and they must not be used then. */
    boolean decrypt(MemorySegment bytes, int length, byte[] seal) {
        begin(seal, 0);
        update(bytes, length);
        MemorySegment.copy(seal, ImageCipher.NONCE_BYTES, tag, ValueLayout.JAVA_BYTE, 0, ImageCipher.TAG_BYTES);
        check(invoke(Functions.CONTROL, context, SET_TAG, ImageCipher.TAG_BYTES, tag), "EVP_CTRL_AEAD_SET_TAG");
        return (int) invoke(Functions.FINAL, context, trailing, count) == 1;
    }

    private void begin(byte[] seal, int encrypt) {
        MemorySegment.copy(seal, 0, nonce, ValueLayout.JAVA_BYTE, 0, ImageCipher.NONCE_BYTES);
        check(invoke(Functions.INIT, context, MemorySegment.NULL, MemorySegment.NULL, key, nonce, encrypt), "EVP_CipherInit_ex");
    }

    private void update(MemorySegment bytes, int length) {
        if (length > 0) {
            check(invoke(Functions.UPDATE, context, bytes, count, bytes, length), "EVP_CipherUpdate");
        }
    }

    private void end(byte[] seal) {
        check(invoke(Functions.FINAL, context, trailing, count), "EVP_CipherFinal_ex");
        check(invoke(Functions.CONTROL, context, GET_TAG, ImageCipher.TAG_BYTES, tag), "EVP_CTRL_AEAD_GET_TAG");
        MemorySegment.copy(tag, ValueLayout.JAVA_BYTE, 0, seal, ImageCipher.NONCE_BYTES, ImageCipher.TAG_BYTES);
    }

    private static void check(Object result, String what) {
        if ((int) result != 1) {
            throw new IllegalStateException("libcrypto: " + what + " failed");
        }
    }

    private static Object invoke(MethodHandle function, Object... arguments) {
        try {
            return function.invokeWithArguments(arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a native function threw", e);
        }
    }
}
