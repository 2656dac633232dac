/* soft_mac.c against OpenSSL's AES-128-GCM, for each way that this processor has; and what 4 KiB cost.
 *
 *   soft_mac_test           compares; prints how many messages were right
 *   soft_mac_test --cost N  makes N tags of 32 and 4096 bytes in the widest way, for valgrind and clocks */
#include "soft-fabric/soft_ghash.h"
#include "soft-fabric/soft_mac.h"
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST = 4200, MESSAGES = 3000 };

static void expected(const uint8_t *key, const uint8_t *nonce, const uint8_t *text, size_t length, uint8_t *mac)
{
    int n;
    EVP_CIPHER_CTX *gcm = EVP_CIPHER_CTX_new();
    if (!gcm || !EVP_EncryptInit_ex(gcm, EVP_aes_128_gcm(), NULL, key, nonce) ||
        !EVP_EncryptUpdate(gcm, NULL, &n, text, (int)length) || !EVP_EncryptFinal_ex(gcm, mac, &n) ||
        !EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_GCM_GET_TAG, SOFT_MAC_BYTES, mac)) {
        fprintf(stderr, "libcrypto makes no tags\n");
        exit(2);
    }
    EVP_CIPHER_CTX_free(gcm);
}

static void fill(uint8_t *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        at[i] = (uint8_t)rand();
}

/* The text in up to 8 pieces. */
static void cut(uint8_t *text, size_t length, struct iovec *pieces)
{
    size_t done = 0;
    for (int i = 0; i < 7; i++) {
        size_t n = rand() % 3 ? (size_t)rand() % (length - done + 1) : (size_t)rand() % 40;
        n = n < length - done ? n : length - done;
        pieces[i] = (struct iovec){text + done, n};
        done += n;
    }
    /* a receive may have more room than it was filled with */
    pieces[7] = (struct iovec){text + done, length - done + 100};
}

static int check(int width, int aes)
{
    static uint8_t text[LONGEST + 100];
    int right = 0;
    for (int i = 0; i < MESSAGES; i++) {
        uint8_t key[SOFT_MAC_KEY], nonce[SOFT_MAC_NONCE], want[SOFT_MAC_BYTES], got[SOFT_MAC_BYTES];
        struct iovec pieces[8];
        struct soft_mac_key made;
        size_t length = i < 600 ? (size_t)i : (size_t)rand() % LONGEST;
        fill(key, sizeof key);
        fill(nonce, sizeof nonce);
        fill(text, length);
        cut(text, length, pieces);
        expected(key, nonce, text, length, want);
        soft_mac_prepare_as(&made, key, width, aes);
        soft_mac(&made, nonce, pieces, length, got);
        if (!soft_mac_equals(want, got)) {
            printf("width %d, AES %d: a message of %zu bytes has another tag than libcrypto says\n", width, aes,
                   length);
            return 0;
        }
        got[i % SOFT_MAC_BYTES] ^= (uint8_t)(1 << i % 8);
        if (soft_mac_equals(want, got)) {
            printf("tags that differ in one bit are taken for the same\n");
            return 0;
        }
        right++;
    }
    printf("width %d, AES %d: %d right\n", width, aes, right);
    return 1;
}

/* Inside one function, whose instructions callgrind can count. */
__attribute__((noinline)) void measured_tags(const struct soft_mac_key *key, long count, const struct iovec *pieces,
                                             size_t length)
{
    uint8_t nonce[SOFT_MAC_NONCE] = {0}, mac[SOFT_MAC_BYTES];
    for (long i = 0; i < count; i++) {
        memcpy(nonce, &i, sizeof i);
        soft_mac(key, nonce, pieces, length, mac);
    }
}

static void cost(int width, int aes, long count, size_t payload)
{
    static uint8_t header[32], text[4096];
    struct soft_mac_key key;
    struct timespec from, to;
    struct iovec pieces[2] = {{header, sizeof header}, {text, payload}};
    soft_mac_prepare_as(&key, text, width, aes);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    measured_tags(&key, count, pieces, sizeof header + payload);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    printf("width %d, AES %d, %zu bytes: %.1f ns\n", width, aes, payload,
           ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)count);
}

int main(int argc, char **argv)
{
    struct soft_mac_key best;
    soft_mac_prepare(&best, (const uint8_t *)"0123456789abcdef");
    if (argc > 2 && !strcmp(argv[1], "--cost")) {
        long count = atol(argv[2]);
        for (int width = best.width; width >= 0; width = width > 128 ? 128 : width - 128)
            for (int big = 0; big < 2; big++)
                cost(width, best.has_aes, width ? count : count / 100 + 1, big ? 4096 : 64);
        return 0;
    }
    srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    for (int width = 0; width <= best.width; width = width ? width * 4 : 128)
        for (int aes = 0; aes <= best.has_aes; aes++)
            if (!check(width, aes))
                return 1;
    return 0;
}
