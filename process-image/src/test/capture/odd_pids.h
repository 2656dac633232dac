#ifndef ODD_PIDS_H
#define ODD_PIDS_H
/* Pid namespaces that a restart could not make again. */
static void pids(const char *kind) {
    bool ended = !strcmp(kind, "ended");
    if (!strcmp(kind, "names")) { /* its host name is from before its user namespace */
        MUST(unshare(CLONE_NEWUTS));
        child(CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD);
        return;
    }
    if (!strcmp(kind, "zombie")) { /* nobody can be made in it any more */
        pid_t first = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
        siginfo_t info;
        if (!first) _exit(0);
        MUST(waitid(P_PID, (id_t)first, &info, WEXITED | WNOWAIT));
        return;
    }
    MUST(unshare(CLONE_NEWPID));
    pid_t pid = ended ? fork() : -1;
    if (!pid) _exit(0);
    if (ended) MUST(waitpid(pid, NULL, 0));
}
#endif
