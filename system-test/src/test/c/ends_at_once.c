/* A process with a verbs device that ends as soon as a file is there, by its code: `ends_at_once FILE CODE`. Nothing of
 * verbs is called on the way, so nothing waits for what a restart does to the device. A second thread ends it in the
 * same moment if the first has not. */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *file;
static int code;

static void *await(void *unused)
{
    (void)unused;
    while (access(file, F_OK) != 0)
        usleep(100);
    _exit(code);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    file = argv[1], code = atoi(argv[2]);
    struct ibv_device **devices = ibv_get_device_list(NULL);
    struct ibv_context *context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
    struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
    struct ibv_cq *cq = pd ? ibv_create_cq(context, 16, NULL, NULL, 0) : NULL;
    struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD, .cap = {4, 4, 1, 1, 0}};
    pthread_t thread;
    if (!cq || !ibv_create_qp(pd, &init) || pthread_create(&thread, NULL, await, NULL))
        return 65;
    puts("ready");
    fflush(stdout);
    await(NULL);
}
