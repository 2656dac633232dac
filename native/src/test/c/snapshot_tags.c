/* The tags of a snapshot's blocks, in the widest registers and by libcrypto: the same, whatever the key, the nonce, the bytes, and
 * the pieces in which they come. Argument: a seed. Exit 77: this processor has no such registers. */
#include "snapshot_tag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 256, ROUNDS = 400, NOT_HERE = 77 };

static unsigned char memory[PAGES * PAGE];

static void fill(unsigned char *to, size_t length) {
    for (size_t i = 0; i < length; i++) {
        to[i] = (unsigned char)random();
    }
}

static void tag(int wide, const unsigned char *key, const unsigned char *nonce, const size_t *cuts, int pieces, unsigned char *result) {
    static struct snapshot_tag state;
    memset(&state, 0x5a, sizeof state); /* what was there before does not count */
    if (!snapshot_tag_begin(&state, wide, key, nonce)) {
        fprintf(stderr, "GCM128_CONTEXT does not fit\n");
        exit(1);
    }
    for (int i = 0; i < pieces; i++) {
        snapshot_tag_add(&state, memory + cuts[i], cuts[i + 1] - cuts[i]);
    }
    snapshot_tag_end(&state, result);
}

int main(int count, char **words) {
    srandom(count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 1);
    AES_KEY first; /* libcrypto looks at the processor before main; the key schedule needs nothing else */
    AES_set_encrypt_key(memory, 256, &first);
    if (!wide_hash_possible()) {
        printf("no AVX-512 with VPCLMULQDQ here\n");
        return NOT_HERE;
    }
    fill(memory, sizeof memory);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char key[UDCKPT_ORDER_KEY_BYTES], nonce[UDCKPT_ORDER_NONCE_BYTES], expected[UDCKPT_ORDER_TAG_BYTES], result[UDCKPT_ORDER_TAG_BYTES];
        fill(key, sizeof key);
        fill(nonce, sizeof nonce);
        fill(memory + PAGE * (random() % PAGES), PAGE);
        size_t cuts[5] = {0};
        for (int i = 1; i < 5; i++) { /* pieces of no length, too */
            cuts[i] = cuts[i - 1] + PAGE * ((size_t)random() % (PAGES / 4 + 1));
        }
        size_t whole[2] = {0, cuts[4]};
        tag(0, key, nonce, whole, 1, expected);
        tag(1, key, nonce, cuts, 4, result);
        if (memcmp(expected, result, sizeof result) != 0) {
            fprintf(stderr, "round %d: %zu bytes in pieces up to %zu, %zu, %zu have another tag\n", round, cuts[4], cuts[1], cuts[2], cuts[3]);
            return 1;
        }
    }
    printf("%d tags are the same\n", ROUNDS);
    return 0;
}
