/* MPI messages without waiting, for counting their instructions (bench/overhead).
 *
 * Ranks that wait for a message spin, and how long they do depends on the clock. Here the two ranks
 * take turns, which they tell each other through a shared file outside MPI: one sends a small
 * message, and only when it is on its way the other one receives it. One at a time, because UCX's UD
 * congestion window starts at two datagrams, and what is beyond it leaves in a later MPI call only.
 * The two functions are never inlined, so that callgrind can count inside them only
 * (--toggle-collect). */
#include "common.h"
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define WARM_UP 64 /* messages each way: connections, windows, protocol choices */

static char message[64];

__attribute__((noinline)) static void send_one(int to)
{
    MPI_Send(message, sizeof message, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void receive_one(int from)
{
    MPI_Recv(message, sizeof message, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void warm_up(int peer)
{
    char in[64];
    for (int i = 0; i < WARM_UP; i++)
        MPI_Sendrecv(message, sizeof message, MPI_CHAR, peer, 1, in, sizeof in, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static _Atomic long *share(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(long)) != 0)
        fail("the file of the turns can not be made");
    void *memory = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        fail("the file of the turns can not be mapped");
    return memory;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    if (argc != 3)
        fail("usage: message_cost TURNS_FILE MESSAGES");
    _Atomic long *turn = share(argv[1]);
    long messages = number_option(argv[2], 1, "MESSAGES");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2)
        fail("message_cost takes two ranks");
    warm_up(1 - rank);
    for (long i = 0; i < messages; i++) {
        int sender = (int)(i % 2);
        if (rank == sender) {
            while (*turn != 2 * i)
                sched_yield();
            send_one(1 - rank);
            *turn = 2 * i + 1;
        } else {
            while (*turn != 2 * i + 1)
                sched_yield();
            receive_one(1 - rank);
            *turn = 2 * i + 2;
        }
    }
    MPI_Finalize();
    return 0;
}
