/* The tags of blocks: GCM with nothing to encrypt (NIST SP 800-38D, 6.4 and 7.1, with nonces of 96 bits). */
#include "snapshot_tag.h"

void snapshot_tag_begin(struct snapshot_tag *tag, int width, const unsigned char *key, const unsigned char *nonce)
{
    unsigned char zeros[16] = {0}, hash_key[16], counter[16] = {[15] = 1};
    for (int i = 0; i < UDCKPT_ORDER_NONCE_BYTES; i++) {
        counter[i] = nonce[i];
    }
    AES_set_encrypt_key(key, 8 * UDCKPT_ORDER_KEY_BYTES, &tag->key);
    AES_encrypt(zeros, hash_key, &tag->key);
    AES_encrypt(counter, tag->mask, &tag->key);
    tag->width = width;
    ghash_begin(&tag->hash, hash_key);
}

void snapshot_tag_add(struct snapshot_tag *tag, const void *from, size_t length)
{
    ghash_add(&tag->hash, tag->width, from, length);
}

void snapshot_tag_end(struct snapshot_tag *tag, unsigned char *result)
{
    ghash_end(&tag->hash, result);
    for (int i = 0; i < UDCKPT_ORDER_TAG_BYTES; i++) {
        result[i] ^= tag->mask[i];
    }
}
