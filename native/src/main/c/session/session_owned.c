/* What belongs to the library and its device: an image must not hold it, a restart makes it anew. */
#include "session_owned.h"
#include "address_table.h"
#include "counters.h"
#include "agent-client/control.h"
#include "checkpoint/virtual_checkpoint.h"
#include "memory/keys_file.h"
#include <string.h>

enum { MAX_FDS = 12000 }; /* 48 KB of the 64 KB that a message may have */

void session_owned(void *reply, size_t size, uint64_t cookie, uint32_t status)
{
    struct udckpt_msg_quiesced *message = reply;
    int *fds = (int *)(message + 1);
    int count = 0;
    memset(reply, 0, size);
    fds[count++] = control.fd;
    if (request_fd() >= 0)
        fds[count++] = request_fd();
    int devices = virtual_owned_fds(fds + count, MAX_FDS - count);
    if (devices > MAX_FDS - count) {
        control_log("QUIESCE: the device has %d descriptors, more than a message can hold", devices);
        devices = 0;
        status = UDCKPT_STATUS_FAILED;
    }
    count += devices;
    struct udckpt_owned_range *ranges = (void *)((char *)fds + ((count * sizeof *fds + 7) & ~7ul));
    int mapped = address_table_range(&ranges[0]);
    mapped += counters_range(&ranges[mapped]);
    int room = (int)((size - (size_t)((char *)(ranges + mapped) - (char *)reply)) / sizeof *ranges);
    int owned = virtual_owned_ranges(ranges + mapped, room);
    if (owned < 0)
        status = UDCKPT_STATUS_FAILED;
    else
        mapped += owned;
    room = (int)((size - (size_t)((char *)(ranges + mapped) - (char *)reply)) / sizeof *ranges);
    int keys = keys_file_ranges(ranges + mapped, room);
    if (keys > room) {
        control_log("QUIESCE: this process maps the keys of %d peers, more than a message can hold", keys);
        status = UDCKPT_STATUS_FAILED;
        keys = 0;
    }
    mapped += keys;
    *message = (struct udckpt_msg_quiesced){.length = (uint32_t)((char *)(ranges + mapped) - (char *)reply),
                                            .type = UDCKPT_MSG_QUIESCED,
                                            .cookie = cookie,
                                            .status = status,
                                            .fd_count = count,
                                            .range_count = mapped};
}
