/* Sends, collectives and one-sided operations whose every value can be computed by the receiver.
 *
 * Each iteration does a ring, an allreduce, an alltoall, a fence epoch (put, get, accumulate) and a
 * passive epoch (lock, fetch-and-op, accumulate, flush), checks each word that arrives, and goes on
 * until --iterations, --seconds or until --finish-file exists; rank 0 decides and tells the others,
 * so that all stop at the same iteration. The last line is `PASS ...` or the run ends with
 * `FAIL ...` and exit code 1. */
#include "common.h"
#include "payload.h"
#include <getopt.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#define RING_WORDS 16384 /* 128 KiB: past every eager limit of UCX, so rendezvous is met too */
#define BLOCK_WORDS 512
#define SLOT_WORDS 64 /* of each peer in the window */

struct options {
    long iterations, seconds, progress;
    const char *finish_file;
};

struct stress {
    int rank, ranks;
    uint64_t iteration, checked;
    uint64_t *out, *in; /* RING_WORDS, or ranks x BLOCK_WORDS */
    uint64_t *slots;    /* window made over our own memory: ranks x SLOT_WORDS, then a sum */
    uint64_t *counters; /* window allocated by MPI: a ticket and a sum */
    MPI_Win slots_window, counters_window;
};

static void check(struct stress *s, const char *what, int peer, uint64_t index, uint64_t is, uint64_t should)
{
    s->checked++;
    if (is == should)
        return;
    printf("FAIL rank %d iteration %" PRIu64 ": %s from rank %d, word %" PRIu64 " is %016" PRIx64 ", not %016" PRIx64
           "\n",
           s->rank, s->iteration, what, peer, index, is, should);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Small messages mostly, one in eight large; the same on all ranks. */
static int ring_words(uint64_t iteration)
{
    uint64_t dice = mix64(iteration);
    return 1 + (int)((dice >> 8) % (dice % 8 == 0 ? RING_WORDS : 256));
}

static void ring(struct stress *s)
{
    int right = (s->rank + 1) % s->ranks, left = (s->rank + s->ranks - 1) % s->ranks;
    int words = ring_words(s->iteration), got;
    MPI_Request request[2];
    MPI_Status status[2];
    for (int i = 0; i < words; i++)
        s->out[i] = payload_word(s->iteration, s->rank, right, i);
    MPI_Irecv(s->in, RING_WORDS, MPI_UINT64_T, left, (int)(s->iteration % 30000), MPI_COMM_WORLD, &request[0]);
    MPI_Isend(s->out, words, MPI_UINT64_T, right, (int)(s->iteration % 30000), MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, status);
    MPI_Get_count(&status[0], MPI_UINT64_T, &got);
    check(s, "ring length", left, 0, got, words);
    for (int i = 0; i < words; i++)
        check(s, "ring", left, i, s->in[i], payload_word(s->iteration, left, s->rank, i));
}

/* The maximum is taken of 63-bit values: MPICH 4.0.2 compares MPI_UINT64_T as signed numbers. */
static void allreduce(struct stress *s)
{
    uint64_t own[2] = {payload_word(s->iteration, s->rank, 0, 1), payload_word(s->iteration, s->rank, 0, 2) >> 1};
    uint64_t sum, largest, should_sum = 0, should_largest = 0;
    MPI_Allreduce(&own[0], &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&own[1], &largest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int rank = 0; rank < s->ranks; rank++) {
        uint64_t candidate = payload_word(s->iteration, rank, 0, 2) >> 1;
        should_sum += payload_word(s->iteration, rank, 0, 1);
        should_largest = candidate > should_largest ? candidate : should_largest;
    }
    check(s, "allreduce sum", 0, 0, sum, should_sum);
    check(s, "allreduce max", 0, 0, largest, should_largest);
}

static void alltoall(struct stress *s)
{
    int words = 1 + (int)(mix64(s->iteration + 7) % BLOCK_WORDS);
    for (int peer = 0; peer < s->ranks; peer++)
        for (int i = 0; i < words; i++)
            s->out[peer * words + i] = payload_word(s->iteration, s->rank, peer, i);
    MPI_Alltoall(s->out, words, MPI_UINT64_T, s->in, words, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int peer = 0; peer < s->ranks; peer++)
        for (int i = 0; i < words; i++)
            check(s, "alltoall", peer, i, s->in[peer * words + i], payload_word(s->iteration, peer, s->rank, i));
}

/* Everybody puts a slot into everybody's window and adds to a sum there; then reads its own slots
 * back from the neighbour. */
static void fence(struct stress *s)
{
    int right = (s->rank + 1) % s->ranks;
    uint64_t one = payload_word(s->iteration, s->rank, 9, 0), sum = 0, back[SLOT_WORDS];
    MPI_Aint sum_at = (MPI_Aint)s->ranks * SLOT_WORDS;
    s->slots[sum_at] = 0;
    MPI_Win_fence(0, s->slots_window);
    for (int peer = 0; peer < s->ranks; peer++) {
        uint64_t *slot = &s->out[peer * SLOT_WORDS];
        for (int i = 0; i < SLOT_WORDS; i++)
            slot[i] = payload_word(s->iteration, s->rank, peer, i);
        MPI_Put(slot, SLOT_WORDS, MPI_UINT64_T, peer, (MPI_Aint)s->rank * SLOT_WORDS, SLOT_WORDS, MPI_UINT64_T,
                s->slots_window);
        MPI_Accumulate(&one, 1, MPI_UINT64_T, peer, sum_at, 1, MPI_UINT64_T, MPI_SUM, s->slots_window);
    }
    MPI_Win_fence(0, s->slots_window);
    MPI_Get(back, SLOT_WORDS, MPI_UINT64_T, right, (MPI_Aint)s->rank * SLOT_WORDS, SLOT_WORDS, MPI_UINT64_T,
            s->slots_window);
    MPI_Win_fence(0, s->slots_window);
    for (int peer = 0; peer < s->ranks; peer++) {
        sum += payload_word(s->iteration, peer, 9, 0);
        for (int i = 0; i < SLOT_WORDS; i++)
            check(s, "put", peer, i, s->slots[peer * SLOT_WORDS + i], payload_word(s->iteration, peer, s->rank, i));
    }
    for (int i = 0; i < SLOT_WORDS; i++)
        check(s, "get", right, i, back[i], payload_word(s->iteration, s->rank, right, i));
    check(s, "accumulate", 0, 0, s->slots[sum_at], sum);
}

/* All ranks draw tickets from one host that takes no part, and add up what they drew. */
static void passive(struct stress *s)
{
    int host = (int)(s->iteration % s->ranks);
    uint64_t one = 1, ticket = 0, zero[2] = {0, 0}, seen[2];
    uint64_t tickets = (uint64_t)s->ranks;
    if (s->rank == host) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, host, 0, s->counters_window);
        MPI_Put(zero, 2, MPI_UINT64_T, host, 0, 2, MPI_UINT64_T, s->counters_window);
        MPI_Win_unlock(host, s->counters_window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, host, 0, s->counters_window);
    MPI_Fetch_and_op(&one, &ticket, MPI_UINT64_T, host, 0, MPI_SUM, s->counters_window);
    MPI_Win_flush(host, s->counters_window);
    MPI_Accumulate(&ticket, 1, MPI_UINT64_T, host, 1, 1, MPI_UINT64_T, MPI_SUM, s->counters_window);
    MPI_Win_unlock(host, s->counters_window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, host, 0, s->counters_window);
    MPI_Get(seen, 2, MPI_UINT64_T, host, 0, 2, MPI_UINT64_T, s->counters_window);
    MPI_Win_unlock(host, s->counters_window);
    check(s, "tickets drawn", host, 0, seen[0], tickets);
    check(s, "sum of tickets", host, 0, seen[1], tickets * (tickets - 1) / 2);
    check(s, "own ticket", host, 0, ticket < tickets, 1);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody clears the next host's counters under a reader */
}

static void *words(size_t count)
{
    void *memory = calloc(count, sizeof(uint64_t));
    if (!memory)
        fail("out of memory");
    return memory;
}

static void prepare(struct stress *s)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->ranks);
    size_t message = (size_t)s->ranks * BLOCK_WORDS > RING_WORDS ? (size_t)s->ranks * BLOCK_WORDS : RING_WORDS;
    MPI_Aint slots = (MPI_Aint)s->ranks * SLOT_WORDS + 1;
    s->out = words(message);
    s->in = words(message);
    s->slots = words(slots);
    MPI_Win_create(s->slots, slots * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &s->slots_window);
    MPI_Win_allocate(2 * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &s->counters,
                     &s->counters_window);
}

/* The wall clock may jump at a restart; a duration that ends early or late is no error here. */
static int goes_on(const struct stress *s, const struct options *o, time_t start)
{
    int more = (o->iterations == 0 || s->iteration < (uint64_t)o->iterations) &&
               (o->seconds == 0 || time(NULL) - start < o->seconds) &&
               (!o->finish_file || access(o->finish_file, F_OK) != 0);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {
        {"iterations", 1, 0, 'i'}, {"seconds", 1, 0, 's'}, {"progress", 1, 0, 'p'}, {"finish-file", 1, 0, 'f'}, {0}};
    struct options o = {.progress = 100};
    int which;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1)
        switch (which) {
        case 'i':
            o.iterations = number_option(optarg, 1, "--iterations");
            break;
        case 's':
            o.seconds = number_option(optarg, 1, "--seconds");
            break;
        case 'p':
            o.progress = number_option(optarg, 1, "--progress");
            break;
        case 'f':
            o.finish_file = optarg;
            break;
        default:
            fputs("usage: mpi_stress [--iterations N] [--seconds N] [--finish-file FILE] [--progress N]\n", stderr);
            exit(64);
        }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    struct stress s = {0};
    MPI_Init(&argc, &argv);
    prepare(&s);
    time_t start = time(NULL);
    while (goes_on(&s, &o, start)) {
        ring(&s);
        allreduce(&s);
        alltoall(&s);
        fence(&s);
        passive(&s);
        s.iteration++;
        if (s.rank == 0 && s.iteration % o.progress == 0) {
            printf("iteration %" PRIu64 " words %" PRIu64 "\n", s.iteration, s.checked);
            fflush(stdout);
        }
    }
    uint64_t checked;
    MPI_Reduce(&s.checked, &checked, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Win_free(&s.slots_window);
    MPI_Win_free(&s.counters_window);
    if (s.rank == 0)
        printf("PASS %d ranks, %" PRIu64 " iterations, %" PRIu64 " words checked\n", s.ranks, s.iteration, checked);
    MPI_Finalize();
    return 0;
}
