/* AES-256-GMAC over what a snapshot writes: the tags of an image's blocks (docs/image-format.md). Nothing here takes a lock or memory
 * of the C library; all state is the caller's, on its stack. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define OPENSSL_SUPPRESS_DEPRECATED /* of the plain functions of one cipher, which need no locks */
#include <openssl/aes.h>
#include <openssl/modes.h>

#include "udckpt_layout.h"

/* GHASH in the widest registers: 16 blocks of 16 bytes at a time. */
struct wide_hash {
    _Alignas(64) unsigned char powers[256]; /* of the hash key, the 16th first; see snapshot_ghash.c for their form */
    _Alignas(16) unsigned char state[16];
    uint64_t bytes;
};

/* Whether this processor can, and the kernel keeps the registers. After OPENSSL_ia32cap_P was filled. */
int wide_hash_possible(void);
/* key: the hash key, AES of 16 zeros: 16 bytes. */
void wide_hash_begin(struct wide_hash *hash, const unsigned char *key);
/* length: a multiple of 256. */
void wide_hash_add(struct wide_hash *hash, const void *from, size_t length);
/* With the length, as GCM ends: 16 bytes. */
void wide_hash_end(struct wide_hash *hash, unsigned char *result);

struct snapshot_tag {
    AES_KEY key;
    int wide;
    struct wide_hash hash;
    unsigned char mask[16]; /* AES of the first counter: what turns the hash into a tag */
    /* Where it is not wide, a GCM128_CONTEXT, whose size libcrypto keeps to itself (some 440 bytes in its versions 1.1 to 3). The guard behind it tells if it should ever be more. */
    _Alignas(64) unsigned char gcm[1024];
    unsigned char guard[256];
};

/* False: this libcrypto's context does not fit. wide: wide_hash_possible(). key, nonce, result: bytes as in udckpt_layout.h. */
int snapshot_tag_begin(struct snapshot_tag *tag, int wide, const unsigned char *key, const unsigned char *nonce);
/* length: a multiple of 4096. */
void snapshot_tag_add(struct snapshot_tag *tag, const void *from, size_t length);
void snapshot_tag_end(struct snapshot_tag *tag, unsigned char *result);
