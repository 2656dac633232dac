/* An OpenSHMEM program for tests of process trees: rounds of one-sided puts and gets, atomics, waits and collectives on
 * the symmetric heap. Each round every element of a ring of blocks depends on what all PEs have put so far, so that a
 * word which is lost, doubled or stale shows in all later lines. Integers only: the lines are the same in every run.
 *
 *   oshrun -n N symmetric_heap ROUNDS [BRAKE]      slower as long as the file BRAKE is there */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 3000, BRAKE_US = 200000 };

static long long mix(long long a, long long b)
{
    return (long long)(((uint64_t)a * 6364136223846793005u + (uint64_t)b) >> 1);
}

static void fail(const char *what, int round)
{
    fprintf(stderr, "PE %d: round %d: %s\n", shmem_my_pe(), round, what);
    shmem_global_exit(1);
}

/* Each PE's block goes to its right neighbour, which waits for the flag that follows it, and looks at its left one by
 * itself. */
static void exchange(long long *mine, long long *arrived, long long *seen, long *flag, int round)
{
    int me = shmem_my_pe(), all = shmem_n_pes(), right = (me + 1) % all, left = (me + all - 1) % all;
    shmem_longlong_put(arrived, mine, WORDS, right);
    shmem_fence();
    shmem_long_p(flag, round, right);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
    shmem_longlong_get(seen, mine, WORDS, left);
    for (int i = 0; i < WORDS; i++)
        if (arrived[i] != seen[i])
            fail("what the left neighbour has put is not what it has", round);
    shmem_barrier_all(); /* nobody changes its block before its neighbour has looked */
    for (int i = 0; i < WORDS; i++)
        mine[i] = mix(mine[i], arrived[(i + 1) % WORDS] + me);
}

/* All PEs count at PE 0; one of them wins the swap. */
static void count(long *tickets, long *winner, int round)
{
    int all = shmem_n_pes();
    long ticket = shmem_long_atomic_fetch_inc(tickets, 0);
    if (ticket / all != round - 1)
        fail("a ticket of another round", round);
    shmem_long_atomic_compare_swap(winner, round - 1, round, 0);
    shmem_long_atomic_add(tickets + 1, ticket % all + 1, round % all);
    shmem_barrier_all();
    if (shmem_long_g(tickets, 0) != (long)all * round || shmem_long_g(winner, 0) != round)
        fail("the atomic counters are wrong", round);
}

int main(int argc, char **argv)
{
    static long long sum, part, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], token, given;
    static long sync_sum[SHMEM_REDUCE_SYNC_SIZE], sync_given[SHMEM_BCAST_SYNC_SIZE], flag, tickets[2], winner;
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    shmem_init();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
        sync_sum[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        sync_given[i] = SHMEM_SYNC_VALUE;
    long long *mine = shmem_malloc(WORDS * sizeof *mine), *arrived = shmem_malloc(WORDS * sizeof *arrived),
              *seen = malloc(WORDS * sizeof *seen);
    for (int i = 0; i < WORDS; i++)
        mine[i] = mix(i, shmem_my_pe());
    shmem_barrier_all();
    for (int round = 1; round <= rounds; round++) {
        exchange(mine, arrived, seen, &flag, round);
        count(tickets, &winner, round);
        part = mine[round % WORDS] >> 8;
        shmem_longlong_sum_to_all(&sum, &part, 1, 0, 0, shmem_n_pes(), work, sync_sum);
        token = sum;
        shmem_broadcast64(&given, &token, 1, round % shmem_n_pes(), 0, 0, shmem_n_pes(), sync_given);
        if (round % shmem_n_pes() != shmem_my_pe() && given != sum)
            fail("the broadcast is not the sum", round);
        shmem_barrier_all();
        if (shmem_my_pe() == 0) {
            printf("round %d sum %016llx tickets %ld\n", round, (unsigned long long)sum, tickets[0]);
            fflush(stdout);
        }
        if (argc > 2 && access(argv[2], F_OK) == 0)
            usleep(BRAKE_US);
    }
    shmem_finalize();
    return 0;
}
