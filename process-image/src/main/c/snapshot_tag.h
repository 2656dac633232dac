/* AES-256-GMAC over what a snapshot writes: the tags of an image's blocks (docs/reference/image-format.md). Nothing
 * here takes a lock or memory of the C library; all state is the caller's, on its stack. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define OPENSSL_SUPPRESS_DEPRECATED /* of the plain functions of one cipher, which need no locks */
#include <openssl/aes.h>

#include "udckpt_layout.h"

/* GHASH, 8 or 16 blocks of 16 bytes at a time. */
struct ghash {
    _Alignas(64) unsigned char powers[256]; /* of the hash key, the 16th first; see snapshot_ghash.c for their form */
    _Alignas(16) unsigned char state[16];
    uint64_t bytes;
};

/* Bits of the widest registers in which this processor can: 512, 128; 0: in none (before 2010). Asks it anew each time:
 * after a restart it may be another one. */
int ghash_width(void);
/* key: the hash key, AES of 16 zeros: 16 bytes. */
void ghash_begin(struct ghash *hash, const unsigned char *key);
/* width: not above ghash_width(). length: a multiple of 256. */
void ghash_add(struct ghash *hash, int width, const void *from, size_t length);
/* With the length, as GCM ends: 16 bytes. */
void ghash_end(struct ghash *hash, unsigned char *result);

struct snapshot_tag {
    AES_KEY key;
    struct ghash hash;
    int width;
    unsigned char mask[16]; /* AES of the first counter: what turns the hash into a tag */
};

/* width: above 0, not above ghash_width(). key, nonce, result: bytes as in udckpt_layout.h. */
void snapshot_tag_begin(struct snapshot_tag *tag, int width, const unsigned char *key, const unsigned char *nonce);
/* length: a multiple of 4096. */
void snapshot_tag_add(struct snapshot_tag *tag, const void *from, size_t length);
void snapshot_tag_end(struct snapshot_tag *tag, unsigned char *result);
