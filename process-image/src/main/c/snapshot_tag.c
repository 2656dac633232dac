/* The tags of blocks, by the quickest way that the processor has. */
#include "snapshot_tag.h"

static GCM128_CONTEXT *gcm_of(struct snapshot_tag *tag) { return (GCM128_CONTEXT *)(void *)tag->gcm; }

static void begin_wide(struct snapshot_tag *tag, const unsigned char *nonce) {
    unsigned char zeros[16] = {0}, hash_key[16], counter[16] = {[15] = 1};
    for (int i = 0; i < UDCKPT_ORDER_NONCE_BYTES; i++) {
        counter[i] = nonce[i];
    }
    AES_encrypt(zeros, hash_key, &tag->key);
    AES_encrypt(counter, tag->mask, &tag->key);
    wide_hash_begin(&tag->hash, hash_key);
}

static int begin_gcm(struct snapshot_tag *tag, const unsigned char *nonce) {
    for (size_t i = 0; i < sizeof tag->guard; i++) {
        tag->guard[i] = 0xa5;
    }
    CRYPTO_gcm128_init(gcm_of(tag), &tag->key, (block128_f)AES_encrypt);
    CRYPTO_gcm128_setiv(gcm_of(tag), nonce, UDCKPT_ORDER_NONCE_BYTES);
    for (size_t i = 0; i < sizeof tag->guard; i++) {
        if (tag->guard[i] != 0xa5) {
            return 0;
        }
    }
    return 1;
}

int snapshot_tag_begin(struct snapshot_tag *tag, int wide, const unsigned char *key, const unsigned char *nonce) {
    AES_set_encrypt_key(key, 8 * UDCKPT_ORDER_KEY_BYTES, &tag->key);
    tag->wide = wide;
    if (wide) {
        begin_wide(tag, nonce);
        return 1;
    }
    return begin_gcm(tag, nonce);
}

void snapshot_tag_add(struct snapshot_tag *tag, const void *from, size_t length) {
    if (tag->wide) {
        wide_hash_add(&tag->hash, from, length);
    } else {
        CRYPTO_gcm128_aad(gcm_of(tag), from, length);
    }
}

void snapshot_tag_end(struct snapshot_tag *tag, unsigned char *result) {
    if (!tag->wide) {
        CRYPTO_gcm128_tag(gcm_of(tag), result, UDCKPT_ORDER_TAG_BYTES);
        return;
    }
    wide_hash_end(&tag->hash, result);
    for (int i = 0; i < UDCKPT_ORDER_TAG_BYTES; i++) {
        result[i] ^= tag->mask[i];
    }
}
