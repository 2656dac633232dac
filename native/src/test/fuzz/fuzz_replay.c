/* fuzz_replay FILE...: gives a fuzz target each of the files, and some changes of each, in the place of libFuzzer. A
 * sanitizer ends it at the first finding. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 20, CHANGES = 40, SECONDS = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* The same ones each time. */
static uint32_t chance(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* In memory of just its size, so that a read behind its end is seen. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_changed(const uint8_t *bytes, size_t size)
{
    static uint8_t changed[MOST];
    const uint8_t odd[] = {0, 1, 0xff, 0x7f, 0x80, ' ', '\n', '9', (uint8_t)chance()};
    memcpy(changed, bytes, size);
    if (size && chance() % 4 == 0)
        size = chance() % size;
    for (uint32_t n = size ? chance() % 3 : 0; n; n--) {
        size_t at = chance() % size, length = chance() % 3 ? 1 : 4;
        memset(changed + at, odd[chance() % sizeof odd], length < size - at ? length : size - at);
    }
    run(changed, size);
}

int main(int count, char **files)
{
    static uint8_t bytes[MOST];
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        if (!file) {
            perror(files[i]);
            return 66;
        }
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        alarm(SECONDS); /* a hang is a finding too */
        run(bytes, size);
        for (int n = 0; n < CHANGES; n++)
            run_changed(bytes, size);
    }
    printf("%d inputs\n", count - 1);
    return 0;
}
