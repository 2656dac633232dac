/* Requests to the shepherd about descriptors that hold missing memory: a byte says whether a descriptor comes along,
 * then a message of any length. */
#include "fuzz.h"
#include "../../main/c/shepherd/shepherd_lazy.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>

static jmp_buf ended;
static int given; /* the agent's end */

void agent_say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!strcmp(format, "lazy %d"))
        given = va_arg(list, int);
    va_end(list);
}
bool namespaces_restored(void)
{
    return true;
}
void children_kill_all(void)
{
}
void job_set_code(int code)
{
}
void shepherd_exit(void)
{
    longjmp(ended, 1);
}

static void send_request(struct input *input)
{
    uint8_t kind = take_u8(input), bytes[64];
    struct request request = {(int)(kind % 6), (int)(int8_t)take_u8(input)};
    size_t size = kind & 0x80 ? take(input, bytes, take_u8(input) % sizeof bytes) : sizeof request;
    struct iovec part = {kind & 0x80 ? (void *)bytes : (void *)&request, size};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int fds[4], count = kind & 0x40 ? 1 + kind % 4 : 0;
    for (int i = 0; i < count; i++)
        NEED((fds[i] = open("/dev/null", O_RDONLY)) >= 0);
    if (count) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        control.header = (struct cmsghdr){
            .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * count)};
        memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * count);
    }
    sendmsg(given, &message, MSG_NOSIGNAL);
    for (int i = 0; i < count; i++)
        close(fds[i]);
}

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    int before = descriptors();
    lazy_open();
    int end = dup(given);
    NEED(end >= 0 && lazy_taken(given));
    given = end;
    if (!setjmp(ended)) {
        for (int i = 0; input.left && lazy_fd() >= 0 && i < 64; i++) {
            char answer[4096];
            send_request(&input);
            lazy_readable();
            while (recv(given, answer, sizeof answer, MSG_DONTWAIT) > 0) {
            }
        }
    }
    if (lazy_fd() >= 0)
        close_all();
    close(given);
    NEED(descriptors() == before); /* none is kept that nobody knows of */
    return 0;
}
