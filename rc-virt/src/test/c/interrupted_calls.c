/* Which calls a signal ends. interrupted_calls PORT FINISH-FILE, as the only rank of a job: in each round each call
 * that can wait for ever is interrupted by a handler without SA_RESTART, and must fail with EINTR, and by one with it,
 * and must go on: by a timer of its own thread and by another thread, with handlers of the other sort installed and
 * without. Nothing else may end a call: no checkpoint, and no restart. "round N" after each; "PASS" when the file is
 * there; a message and exit code 1 otherwise. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define OK(call) \
    do { \
        if (call) { \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, strerror(errno)); \
            exit(1); \
        } \
    } while (0)

enum { TICK_US = 15000, HANDLED = 3, TICKS_MAX = 2000 };

static struct ibv_context *device;
static struct ibv_comp_channel *completions;
static struct rdma_event_channel *events, *requests;
static struct rdma_cm_id *connection, *listener, *silent;
static struct sockaddr_in nobody_accepts;
static pthread_t caller;
static volatile sig_atomic_t handled;

static struct rdma_cm_id *bound(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    struct rdma_cm_id *id;
    OK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
    OK(rdma_bind_addr(id, (struct sockaddr *)address));
    return id;
}

static struct rdma_cm_id *resolved(void)
{
    struct rdma_cm_id *id;
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    OK(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
    OK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&nobody_accepts, 2000));
    OK(rdma_resolve_route(id, 2000));
    OK(rdma_create_qp(id, NULL, &attr));
    return id;
}

static void prepare(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    nobody_accepts = address;
    nobody_accepts.sin_port = htons((uint16_t)(port + 1));
    OK(!(events = rdma_create_event_channel()) || !(requests = rdma_create_event_channel()));
    OK(fcntl(requests->fd, F_SETFL, O_NONBLOCK));
    OK(rdma_listen(silent = bound(requests, &nobody_accepts), 64));
    OK(rdma_listen(listener = bound(NULL, &address), 1));
    connection = resolved();
    device = connection->verbs;
    OK(!(completions = ibv_create_comp_channel(device)));
    OK(!ibv_create_cq(device, 1, NULL, completions, 0));
}

static int get_cq_event(void)
{
    struct ibv_cq *cq;
    void *context;
    return ibv_get_cq_event(completions, &cq, &context);
}

static int get_async_event(void)
{
    struct ibv_async_event event;
    return ibv_get_async_event(device, &event);
}

static int get_cm_event(void)
{
    struct rdma_cm_event *event;
    return rdma_get_cm_event(events, &event);
}

static int get_send_comp(void)
{
    struct ibv_wc done;
    return rdma_get_send_comp(connection, &done);
}

static int get_recv_comp(void)
{
    struct ibv_wc done;
    return rdma_get_recv_comp(connection, &done);
}

static int get_request(void)
{
    struct rdma_cm_id *id;
    return rdma_get_request(listener, &id);
}

/* Its request is neither accepted nor rejected. */
static int connect_id(void)
{
    struct rdma_cm_id *id = resolved();
    struct rdma_cm_event *event;
    int result = rdma_connect(id, NULL), error = errno;
    rdma_destroy_qp(id);
    OK(rdma_destroy_id(id));
    while (!rdma_get_cm_event(requests, &event)) {
        struct rdma_cm_id *request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event->id : NULL;
        OK(rdma_ack_cm_event(event));
        if (request)
            OK(rdma_destroy_id(request));
    }
    errno = error;
    return result;
}

static const struct call {
    const char *name;
    int (*make)(void);
} calls[] = {
    {"ibv_get_cq_event", get_cq_event},    {"ibv_get_async_event", get_async_event},
    {"rdma_get_cm_event", get_cm_event},   {"rdma_get_send_comp", get_send_comp},
    {"rdma_get_recv_comp", get_recv_comp}, {"rdma_get_request", get_request},
    {"rdma_connect", connect_id},
};

static void handle(int signal)
{
    handled++;
}

static void install(int signal, int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    OK(sigaction(signal, &action, NULL));
}

static void uninstall(int signal)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    OK(sigaction(signal, &action, NULL));
}

/* How one call is made to end. */
static struct trial {
    int signal;   /* SIGALRM: the caller's own timer; SIGUSR1: from the sender */
    int restarts; /* its handler has SA_RESTART */
    int both;     /* SIGUSR2 has one of the other sort */
} trial;
static volatile int is_waiting;

static void fail(const char *name, const char *what)
{
    fprintf(stderr, "%s, %s, handler %s SA_RESTART%s: %s (%d handled)\n", name,
            trial.signal == SIGALRM ? "own timer" : "other thread", trial.restarts ? "with" : "without",
            trial.both ? ", both sorts" : "", what, (int)handled);
    exit(1);
}

/* Sends the trial's signal until the call ends; when the handler restarts, and has run a few times without an end,
 * sends one that ends it. */
static void *send_signals(void *name)
{
    int ended = 0;
    for (int i = 0; is_waiting; i++) {
        usleep(TICK_US);
        if (i == TICKS_MAX)
            fail(name, "does not end");
        if (trial.restarts && handled >= HANDLED && !ended) {
            install(SIGUSR2, 0);
            ended = 1;
        }
        if (ended || trial.signal == SIGUSR1)
            pthread_kill(caller, ended ? SIGUSR2 : SIGUSR1);
    }
    return NULL;
}

static void set_timer(int us)
{
    struct itimerval timer = {.it_interval.tv_usec = us, .it_value.tv_usec = us};
    OK(setitimer(ITIMER_REAL, &timer, NULL));
}

static void interrupt(const struct call *call)
{
    pthread_t sender;
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    handled = 0;
    is_waiting = 1;
    install(trial.signal, trial.restarts ? SA_RESTART : 0);
    if (trial.both)
        install(SIGUSR2, trial.restarts ? 0 : SA_RESTART);
    OK(pthread_sigmask(SIG_BLOCK, &alarm, NULL)); /* the sender's too: the timer is for this thread */
    OK(pthread_create(&sender, NULL, send_signals, (void *)call->name));
    OK(pthread_sigmask(SIG_UNBLOCK, &alarm, NULL));
    if (trial.signal == SIGALRM)
        set_timer(TICK_US);
    int result = call->make(), error = errno, count = handled;
    is_waiting = 0;
    if (trial.signal == SIGALRM)
        set_timer(0);
    OK(pthread_join(sender, NULL));
    uninstall(trial.signal);
    uninstall(SIGUSR2);
    if (result != -1 || error != EINTR)
        fail(call->name, result ? strerror(error) : "ends well");
    if (!count)
        fail(call->name, "EINTR without a signal");
    if (trial.restarts && count <= HANDLED)
        fail(call->name, "is ended by a handler that restarts");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    caller = pthread_self();
    prepare(atoi(argv[1]));
    for (int round = 1; access(argv[2], F_OK); round++) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            for (int kind = 0; kind < 8; kind++) {
                trial = (struct trial){
                    .signal = kind & 1 ? SIGALRM : SIGUSR1, .restarts = kind >> 1 & 1, .both = kind >> 2};
                interrupt(&calls[i]);
            }
        printf("round %d\n", round);
    }
    puts("PASS");
    return 0;
}
