#ifndef ODD_THREADS_H
#define ODD_THREADS_H
/* Threads with something of their own. */
static void start(void *(*body)(void *)) {
    pthread_t thread;
    MUST(-pthread_create(&thread, NULL, body, NULL));
    while (!ready) usleep(1000);
}

static void *beside(void *unused) {
    ready = 1;
    wait_for_end();
    return unused;
}

/* Two that have the same of their own, which is not the process's. */
static void own_with_another(int flag) {
    pthread_t other;
    MUST(unshare(flag));
    MUST(-pthread_create(&other, NULL, beside, NULL));
    wait_for_end();
    pthread_join(other, NULL);
}

static void *own_descriptors(void *unused) {
    own_with_another(CLONE_FILES);
    return unused;
}

/* In a table of its own, by which it is. */
static void *own_lock(void *unused) {
    struct flock lock = {.l_type = F_WRLCK};
    MUST(unshare(CLONE_FILES));
    int file = open("locked", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    MUST(file);
    MUST(fcntl(file, F_SETLK, &lock));
    ready = 1;
    wait_for_end();
    return unused;
}

/* Open nowhere else. */
static void *own_inotify(void *unused) {
    MUST(unshare(CLONE_FILES));
    MUST(inotify_init1(IN_CLOEXEC));
    ready = 1;
    wait_for_end();
    return unused;
}

/* of a thread that is in another directory */
static void wait_for_end_in(const char *directory) {
    char name[4200];
    snprintf(name, sizeof name, "%s/finish", directory);
    while (access(name, F_OK)) usleep(2000);
}

static void *own_removed_directory(void *unused) {
    char here[4096];
    MUST(getcwd(here, sizeof here) ? 0 : -1);
    MUST(unshare(CLONE_FS));
    MUST(mkdir("removed", 0700));
    MUST(chdir("removed"));
    MUST(rmdir("../removed"));
    ready = 1;
    wait_for_end_in(here);
    return unused;
}

static void *own_root(void *unused) {
    char here[4096];
    MUST(unshare(CLONE_FS));
    MUST(getcwd(here, sizeof here) ? 0 : -1);
    MUST(chroot(here));
    ready = 1;
    wait_for_end_in("");
    return unused;
}

static void *own_mounts(void *unused) {
    MUST(unshare(CLONE_FS | CLONE_NEWNS));
    ready = 1;
    wait_for_end();
    return unused;
}

static void *own_pair(void *unused) {
    own_with_another(CLONE_FS);
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

/* One of two threads', and not armed. */
static void cpu_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    start(beside);
    MUST(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer));
}
#endif
