/* Both sides of a rank's PMI connection, and what the shepherd answers when its agent is gone: {u8 what, u16 length,
 * bytes}*; 0 and 1 the rank writes, 2 the agent writes, 3 the agent goes. */
#include "fuzz.h"
#include <sys/socket.h>
#include <sys/un.h>
#include "../../main/c/shepherd/shepherd_pmi.c"
#include "../../main/c/shepherd/shepherd_alone.c"

static int agent_is_there;
void agent_say(const char *format, ...)
{
}
int agent_fd(void)
{
    return agent_is_there ? 0 : -1;
}
void job_set_code(int code)
{
}
void children_kill_roots(void)
{
}

static int listener = -1;
static char path[64];

static void clear_away(void)
{
    unlink(path);
}

static void prepare(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(path, sizeof path, "/dev/shm/fuzz.%d.pmi", getpid());
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    NEED(!bind(listener, (struct sockaddr *)&address, sizeof address) && !listen(listener, 8));
    atexit(clear_away);
}

static void turn(int rank, int agent)
{
    struct pollfd fds[2 * SHEPHERD_MAX_ROOTS];
    char bytes[65536];
    for (int i = 0; i < 4; i++) {
        int count = pmi_poll(fds);
        if (poll(fds, count, 0) <= 0)
            return;
        pmi_ready(fds);
        if (rank >= 0)
            while (recv(rank, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
            }
        if (agent >= 0)
            while (recv(agent, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
            }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    if (listener < 0)
        prepare();
    agent_is_there = 1;
    int spare = pmi_open(3, path), rank = dup(spare), agent = accept(listener, NULL, NULL);
    NEED(spare >= 0 && rank >= 0 && agent >= 0);
    pmi_taken(spare);
    while (input.left) {
        uint8_t what = take_u8(&input) % 4;
        uint8_t piece[20000];
        uint16_t length = take_u16(&input) % sizeof piece;
        size_t here = take(&input, piece, length);
        int to = what < 2 ? rank : agent;
        if (what == 3 && agent >= 0) {
            close(agent);
            agent = -1;
            agent_is_there = 0;
        } else if (to >= 0) {
            send(to, piece, here, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        turn(rank, agent);
    }
    close(rank);
    turn(-1, agent);
    if (agent >= 0)
        close(agent);
    agent_is_there = 0;
    turn(-1, -1);
    for (int i = 0; i < SHEPHERD_MAX_ROOTS; i++)
        NEED(!relays[i].used);
    return 0;
}
