#ifndef ODD_THREADS_H
#define ODD_THREADS_H
/* Threads with something of their own. */
static void start(void *(*body)(void *)) {
    pthread_t thread;
    MUST(-pthread_create(&thread, NULL, body, NULL));
    while (!ready) usleep(1000);
}

static void *own_directory(void *unused) {
    MUST(unshare(CLONE_FS));
    ready = 1;
    wait_for_end();
    return unused;
}

static void *own_filter(void *unused) {
    struct sock_filter asks[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_uname, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, asks};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
    ready = 1;
    wait_for_end();
    return unused;
}

static void *own_keyring(void *unused) {
    MUST(syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -1 /* of the thread */, 1));
    ready = 1;
    wait_for_end();
    return unused;
}

static void *beside(void *unused) {
    ready = 1;
    wait_for_end();
    return unused;
}

/* One of two threads', and not armed. */
static void cpu_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    start(beside);
    MUST(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer));
}
#endif
