/* The tags of a snapshot's blocks are those of libcrypto, in each width of registers, whatever the key, the nonce, the
 * bytes, and the pieces in which they come. Argument: a seed. */
#include "snapshot_tag.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 256, ROUNDS = 400, PIECES = 4 };

static unsigned char memory[PAGES * PAGE];

static void fill(unsigned char *to, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        to[i] = (unsigned char)random();
    }
}

static void expect(const unsigned char *key, const unsigned char *nonce, size_t length, unsigned char *result)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int done;
    unsigned char nothing[16];
    if (context == NULL || EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) != 1 ||
        (length > 0 && EVP_EncryptUpdate(context, NULL, &done, memory, (int)length) != 1) ||
        EVP_EncryptFinal_ex(context, nothing, &done) != 1 ||
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, UDCKPT_ORDER_TAG_BYTES, result) != 1) {
        fprintf(stderr, "libcrypto makes no tag\n");
        exit(1);
    }
    EVP_CIPHER_CTX_free(context);
}

static void tag(int width, const unsigned char *key, const unsigned char *nonce, const size_t *cuts,
                unsigned char *result)
{
    static struct snapshot_tag state;
    memset(&state, 0x5a, sizeof state); /* what was there before does not count */
    snapshot_tag_begin(&state, width, key, nonce);
    for (int i = 0; i < PIECES; i++) {
        snapshot_tag_add(&state, memory + cuts[i], cuts[i + 1] - cuts[i]);
    }
    snapshot_tag_end(&state, result);
}

int main(int count, char **words)
{
    srandom(count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 1);
    fill(memory, sizeof memory);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char key[UDCKPT_ORDER_KEY_BYTES], nonce[UDCKPT_ORDER_NONCE_BYTES], expected[UDCKPT_ORDER_TAG_BYTES],
            result[UDCKPT_ORDER_TAG_BYTES];
        fill(key, sizeof key);
        fill(nonce, sizeof nonce);
        fill(memory + PAGE * (random() % PAGES), PAGE);
        size_t cuts[PIECES + 1] = {0};
        for (int i = 1; i <= PIECES; i++) { /* pieces of no length, too */
            cuts[i] = cuts[i - 1] + PAGE * ((size_t)random() % (PAGES / PIECES + 1));
        }
        expect(key, nonce, cuts[PIECES], expected);
        for (int width = 128; width <= ghash_width(); width *= 4) {
            tag(width, key, nonce, cuts, result);
            if (memcmp(expected, result, sizeof result) != 0) {
                fprintf(stderr, "round %d, %d bits: %zu bytes in pieces up to %zu, %zu, %zu have another tag\n", round,
                        width, cuts[PIECES], cuts[1], cuts[2], cuts[3]);
                return 1;
            }
        }
    }
    printf("%d bits\n", ghash_width());
    return ghash_width() == 0;
}
