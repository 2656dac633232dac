/* The files that all processes of a job share, as one of them may have left them: {u16 table, u16 counters, u16 keys:
 * bytes of each head}, then the heads. */
/* links: libudckpt */
#include "address_table.h"
#include "counters.h"
#include "fuzz.h"
#include "udckpt_layout.h"
#include "agent-client/control.h"
#include "memory/keys_file.h"
#include <fcntl.h>
#include <unistd.h>

void control_log(const char *format, ...)
{
}

static char directory[] = "/dev/shm/fuzz.XXXXXX";

static void name(char *path, size_t size, const char *file)
{
    snprintf(path, size, "%s/%s", directory, file);
}

static void clear_away(void)
{
    static const char *const files[] = {"table", "counters", "keys.1"};
    char path[64];
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        name(path, sizeof path, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* The head, which may say that it is of this build, and pages of zeros or of the head's last byte behind it. */
static void write_file(struct input *input, const char *file, uint64_t magic, size_t pages)
{
    char path[64];
    uint8_t head[4096];
    uint16_t length = take_u16(input) % (sizeof head + 1);
    uint8_t how = take_u8(input);
    take(input, head, length);
    if (how & 1 && length >= 16) {
        memcpy(head, &magic, 8);
        memcpy(head + 8, &(uint64_t){UDCKPT_LAYOUT_HASH}, 8);
    }
    name(path, sizeof path, file);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    NEED(fd >= 0 && write(fd, head, length) == length);
    if (how & 2)
        NEED(!ftruncate(fd, (off_t)(pages * 4096)));
    for (size_t at = length; how & 4 && length && at < 8 * sizeof head; at += length)
        NEED(pwrite(fd, head, length, (off_t)at) == length);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    char error[256];
    struct address_entry entry;
    static int prepared;
    if (!prepared) {
        NEED(mkdtemp(directory));
        atexit(clear_away);
        prepared = 1;
    }
    snprintf(control.runtime_dir, sizeof control.runtime_dir, "%s", directory);
    write_file(&input, "table", UDCKPT_TABLE_MAGIC, 2048);
    write_file(&input, "counters", UDCKPT_COUNTERS_MAGIC, 64);
    write_file(&input, "keys.1", UDCKPT_KEYS_MAGIC, 200);
    if (!address_table_map(directory, error, sizeof error))
        for (unsigned i = 0; i < 4; i++)
            if (address_table_find((int)i & 1, take_u16(&input), take_u16(&input), &entry))
                NEED(address_virtual_gid(entry.virtual_lid) && address_real_gid(entry.real_lid)[15] <= 255);
    if (!counters_map(directory, (int)take_u16(&input), error, sizeof error)) {
        int slot, shared;
        counters_claim(&slot, &shared)->ud_sends++;
        counters_release(slot);
    }
    const struct peer_keys *keys = keys_file_of(1);
    for (unsigned i = 0; keys && i < 4; i++)
        keys_file_real_key(keys, take_u16(&input));
    keys_file_forget();
    return 0;
}
