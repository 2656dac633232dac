package org.udckpt.image.key;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.NativeCall.call;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import org.udckpt.linux.Libcrypto;

/**
 * AES-256-GCM of OpenSSL's libcrypto (EVP_EncryptInit(3)), in place. The JDK's own is as fast once it is compiled, but
 * in a young JVM it does some 60 MB/s for the first seconds, just when the first image is written. For one thread.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
final class AesGcm {
    private static final int SET_IV_LENGTH = 0x9, GET_TAG = 0x10, SET_TAG = 0x11; // EVP_CTRL_AEAD_*

    private final MemorySegment context;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment key;
    private final MemorySegment nonce = arena.allocate(ImageCipher.NONCE_BYTES);
    private final MemorySegment tag = arena.allocate(ImageCipher.TAG_BYTES);
    private final MemorySegment count = arena.allocate(JAVA_INT);
    private final MemorySegment trailing = arena.allocate(32);

    /** libcrypto's functions; looked up at first use, so that they are needed only by jobs that encrypt. */
    private static final class Functions {
        static final MemorySegment NEW = find("EVP_CIPHER_CTX_new");
        static final MemorySegment FREE = find("EVP_CIPHER_CTX_free");
        static final MemorySegment CONTROL = find("EVP_CIPHER_CTX_ctrl");
        static final MemorySegment INIT = find("EVP_CipherInit_ex");
        static final MemorySegment UPDATE = find("EVP_CipherUpdate");
        static final MemorySegment FINAL = find("EVP_CipherFinal_ex");
        static final long CIPHER = call(find("EVP_aes_256_gcm"), 0, 0, 0, 0, 0, 0);

        private static MemorySegment find(String name) {
            return Libcrypto.find(name).orElseThrow();
        }
    }

    /** @throws IOException saying what to install, where libcrypto is not there */
    static void require() throws IOException {
        if (!Libcrypto.there()) {
            throw new IOException("encryption needs OpenSSL's libcrypto.so.3 or libcrypto.so.1.1"
                    + " (Debian: apt install libssl3; Red Hat: dnf install openssl-libs)");
        }
    }

    /** @param secret 32 bytes */
    AesGcm(byte[] secret) {
        key = arena.allocateFrom(ValueLayout.JAVA_BYTE, secret);
        long made = call(Functions.NEW, 0, 0, 0, 0, 0, 0);
        if (made == 0) {
            throw new OutOfMemoryError("EVP_CIPHER_CTX_new");
        }
        context = MemorySegment.ofAddress(made).reinterpret(arena,
                unused -> call(Functions.FREE, unused.address(), 0, 0, 0, 0, 0));
        check(call(Functions.INIT, made, Functions.CIPHER, 0, 0, 0, 1), "EVP_CipherInit_ex");
        check(call(Functions.CONTROL, made, SET_IV_LENGTH, ImageCipher.NONCE_BYTES, 0, 0, 0),
                "EVP_CTRL_AEAD_SET_IVLEN");
    }

    /**
     * Encrypts the first {@code length} bytes in place; {@code seal} holds the nonce and receives the tag behind it.
     */
    void encrypt(MemorySegment bytes, int length, byte[] seal) {
        begin(seal, 1);
        update(bytes, length);
        end(seal);
    }

    /**
     * Encrypts nothing: the first {@code length} bytes are additional data; {@code seal} holds the nonce and receives
     * the tag behind it.
     */
    void tag(MemorySegment bytes, int length, byte[] seal) {
        begin(seal, 1);
        if (length > 0) {
            update(0, bytes, length);
        }
        end(seal);
    }

    /**
     * Decrypts the first {@code length} bytes in place; false when they are not what was sealed, and they must not be
     * used then.
     */
    boolean decrypt(MemorySegment bytes, int length, byte[] seal) {
        begin(seal, 0);
        update(bytes, length);
        MemorySegment.copy(seal, ImageCipher.NONCE_BYTES, tag, ValueLayout.JAVA_BYTE, 0, ImageCipher.TAG_BYTES);
        check(call(Functions.CONTROL, context.address(), SET_TAG, ImageCipher.TAG_BYTES, tag.address(), 0, 0),
                "EVP_CTRL_AEAD_SET_TAG");
        boolean right = finish() == 1;
        Reference.reachabilityFence(this);
        return right;
    }

    private void begin(byte[] seal, int encrypt) {
        MemorySegment.copy(seal, 0, nonce, ValueLayout.JAVA_BYTE, 0, ImageCipher.NONCE_BYTES);
        check(call(Functions.INIT, context.address(), 0, 0, key.address(), nonce.address(), encrypt),
                "EVP_CipherInit_ex");
    }

    private void update(MemorySegment bytes, int length) {
        if (length > 0) {
            update(bytes.address(), bytes, length);
        }
    }

    /** @param into where the result goes; 0: the bytes are additional data */
    private void update(long into, MemorySegment bytes, int length) {
        if (!bytes.isNative()) {
            throw new IllegalArgumentException("only native memory can be encrypted or tagged: " + bytes);
        }
        try {
            check(call(Functions.UPDATE, context.address(), into, count.address(), bytes.asSlice(0, length).address(),
                    length, 0), "EVP_CipherUpdate");
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }

    private int finish() {
        return (int) call(Functions.FINAL, context.address(), trailing.address(), count.address(), 0, 0, 0);
    }

    private void end(byte[] seal) {
        check(finish(), "EVP_CipherFinal_ex");
        check(call(Functions.CONTROL, context.address(), GET_TAG, ImageCipher.TAG_BYTES, tag.address(), 0, 0),
                "EVP_CTRL_AEAD_GET_TAG");
        MemorySegment.copy(tag, ValueLayout.JAVA_BYTE, 0, seal, ImageCipher.NONCE_BYTES, ImageCipher.TAG_BYTES);
        Reference.reachabilityFence(this); // its memory goes with it
    }

    /** Results are int: the upper half of the register means nothing. */
    private static void check(long result, String what) {
        if ((int) result != 1) {
            throw new IllegalStateException("libcrypto: " + what + " failed");
        }
    }
}
