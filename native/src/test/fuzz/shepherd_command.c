/* Lines from an agent to its shepherd. What they make it do is only noted. */
#include "fuzz.h"
#include <sys/socket.h>
#include <unistd.h>
#include "../../main/c/shepherd/shepherd_agent.c"

void child_expect(pid_t pid)
{
}
void children_go(void)
{
}
int children_signal(int number, pid_t host_pid)
{
    errno = ESRCH;
    return number == 0 ? 0 : -1;
}
void children_kill_expected(void)
{
}
int children_kill_stubs(void)
{
    return 0;
}
void children_continue_all(void)
{
}
void shepherd_exit(void)
{
    abort();
} /* the input is cut off before it: no command of the agent's but "quit" ends here */
void spawn_rank(int rank, const char *spec_path)
{
    NEED(strlen(spec_path) < SHEPHERD_LINE);
}
pid_t pid_from_host(pid_t host_pid)
{
    return host_pid;
}
void clock_set(long long offset_ns)
{
}
void last_pid_set(long pid)
{
}
void stub_make(pid_t pid)
{
}
void child_adopt(pid_t pid, pid_t host_pid)
{
}
void parent_become(pid_t pid)
{
}
int pmi_open(int rank, const char *path)
{
    errno = strlen(path) < SHEPHERD_LINE ? ENOENT : 0;
    return -1;
}
void pmi_taken(int fd)
{
}
void lazy_open(void)
{
}
bool lazy_taken(int fd)
{
    return fd == 7;
}
void lazy_lost(void)
{
}

/* The command is as good as any, and would end this process. */
static int has_quit(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i++)
        if (!memcmp(bytes + i, "quit", 4))
            return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int pair[2];
    if (size > 60000 || has_quit(bytes, size))
        return 0;
    NEED(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    agent_attach(pair[1]);
    used = 0;
    bound = standing = false;
    NEED(send(pair[0], bytes, size, 0) == (ssize_t)size);
    shutdown(pair[0], SHUT_WR);
    while (agent_fd() >= 0) {
        char answers[65536];
        agent_readable();
        do {
            while (recv(pair[0], answers, sizeof answers, MSG_DONTWAIT) > 0) {
            }
            agent_writable();
        } while (agent_is_behind());
    }
    close(pair[0]);
    return 0;
}
