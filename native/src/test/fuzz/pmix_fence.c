/* The agent's answers to udckpt-pmix, in which is what other units have put; and the layout of its command line. The
 * first byte says which. */
/* links: libpmix headers */
#include "fuzz.h"
#include <setjmp.h>
#include <sys/socket.h>

static struct input answers;
static ssize_t fuzz_recv(int fd, void *into, size_t size, int flags)
{
    return (ssize_t)take(&answers, into, size < answers.left ? size : answers.left);
}
static ssize_t fuzz_send(int fd, const void *from, size_t size, int flags)
{
    return (ssize_t)size;
}
#define recv fuzz_recv
#define send fuzz_send
#include "../../main/c/pmix/pmix_layout.c"
#define word pmi1_word
#define first first_fence
#define need need_memory
#include "../../main/c/pmix/pmix_pmi1.c"
#define next next_byte
#include "../../main/c/pmix/pmix_fence.c"

static jmp_buf dead;

void die(const char *format, ...)
{
    longjmp(dead, 1);
}

static void fence_of(struct layout *of)
{
    char *all = NULL;
    size_t size = 0;
    struct fence own = {.data = "own", .size = 3};
    FILE *out = open_memstream(&all, &size);
    NEED(out);
    if (!setjmp(dead)) {
        layout = of;
        unread_at = unread_end = unread;
        pmi1_open();
        get_all(&own, out);
    }
    fclose(out);
    free(all);
}

static void layout_of(const char *text, int first_rank)
{
    struct layout one = {0};
    if (!setjmp(dead)) {
        layout_parse(&one, text, first_rank);
        if (one.ranks < 100000) {
            free(layout_names(&one));
            free(layout_ranks(&one));
            free(unit_ranks(one.own));
        }
    }
    free(one.count ? one.units[0].name : NULL);
    free(one.units);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct unit units[3] = {{"a", 0, 2}, {"b", 2, 1}, {"c", 3, 1}};
    static struct layout three = {units, 3, 4, units};
    setenv("PMI_FD", "0", 1);
    if (!size)
        return 0;
    if (bytes[0] & 1) {
        char *text = strndup((const char *)bytes + 1, size - 1);
        NEED(text);
        layout_of(text, bytes[0] >> 1);
        free(text);
    } else {
        answers = (struct input){bytes + 1, size - 1};
        fence_of(&three);
    }
    return 0;
}
