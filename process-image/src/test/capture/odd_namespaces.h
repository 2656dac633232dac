/* Part of odd.c: what is left of namespaces, and threads in others. */

static void *own_names(void *unused) {
    MUST(unshare(CLONE_NEWUTS));
    ready = 1;
    wait_for_end();
    return unused;
}

/* Of the namespace that was left; with one of the same number in the new one, or with none. */
static void left_segment(int replaced) {
    int old = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    MUST(old);
    MUST(shmat(old, NULL, 0) != (void *)-1 ? 0 : -1);
    MUST(shmctl(old, IPC_RMID, NULL));
    MUST(unshare(CLONE_NEWIPC));
    if (replaced) {
        char number[16];
        int fd = open("/proc/sys/kernel/shm_next_id", O_WRONLY), length = snprintf(number, sizeof number, "%d", old);
        MUST(write(fd, number, (size_t)length));
        MUST(close(fd));
        segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
        MUST(segment == old ? 0 : -1);
        MUST(shmat(segment, NULL, 0) != (void *)-1 ? 0 : -1);
    }
}
