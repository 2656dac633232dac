/* A tree of processes with threads, for bench/tree: family PROCESSES THREADS MIB FINISH. Each process has THREADS
 * threads and touches MIB mebibytes, has a pipe, an event counter and an epoll, and every third one is a grandchild.
 * They wait as servers do: in epoll, on condition variables, asleep. Ends when the file FINISH is there; each process
 * then looks whether its memory is what it wrote. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static int ended;

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static void *wait_for_end(void *number)
{
    int event = eventfd(0, EFD_CLOEXEC), poll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(poll, EPOLL_CTL_ADD, event, &(struct epoll_event){.events = EPOLLIN});
    pthread_mutex_lock(&lock);
    while (!ended) {
        if ((intptr_t)number % 3 == 0) {
            pthread_cond_wait(&over, &lock);
            continue;
        }
        pthread_mutex_unlock(&lock);
        struct epoll_event unused;
        if ((intptr_t)number % 3 == 1)
            epoll_wait(poll, &unused, 1, 100);
        else
            pause_ms(50);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int live(int threads, size_t bytes, const char *finish)
{
    unsigned char *memory = malloc(bytes ? bytes : 1);
    pthread_t all[64];
    if (!memory || threads > 64)
        return 1;
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(i * 31 ^ i >> 12 ^ (size_t)getpid());
    for (intptr_t i = 1; i < threads; i++)
        if (pthread_create(&all[i], NULL, wait_for_end, (void *)i))
            return 1;
    while (access(finish, F_OK))
        pause_ms(100);
    pthread_mutex_lock(&lock);
    ended = 1;
    pthread_cond_broadcast(&over);
    pthread_mutex_unlock(&lock);
    for (int i = 1; i < threads; i++)
        pthread_join(all[i], NULL);
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != (unsigned char)(i * 31 ^ i >> 12 ^ (size_t)getpid()))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return fprintf(stderr, "usage: family PROCESSES THREADS MIB FINISH\n"), 64;
    int processes = atoi(argv[1]), threads = atoi(argv[2]), failed = 0, pipes[2];
    size_t bytes = (size_t)atoi(argv[3]) << 20;
    int children = 0;
    for (int i = 1; i < processes; i++, children++) {
        bool grandchildren = i % 3 == 0 && i + 1 < processes;
        if (pipe(pipes))
            return perror("pipe"), 1;
        pid_t child = fork();
        if (child < 0)
            return perror("fork"), 1;
        if (child) {
            i += grandchildren;
            continue;
        }
        if (grandchildren) {
            pid_t grandchild = fork();
            if (grandchild < 0)
                _exit(1);
            if (!grandchild)
                _exit(live(threads, bytes, argv[4]));
            int status, code = live(threads, bytes, argv[4]);
            waitpid(grandchild, &status, 0);
            _exit(code | (status != 0));
        }
        _exit(live(threads, bytes, argv[4]));
    }
    printf("%d processes\n", processes);
    fflush(stdout);
    failed |= live(threads, bytes, argv[4]);
    for (int i = 0; i < children; i++) {
        int status;
        failed |= wait(&status) < 0 || status != 0;
    }
    puts(failed ? "FAIL" : "PASS");
    return failed;
}
