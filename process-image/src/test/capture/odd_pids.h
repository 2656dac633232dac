#ifndef ODD_PIDS_H
#define ODD_PIDS_H
/* Pid namespaces that a restart could not make again. */
static void pids(const char *kind) {
    bool nested = !strcmp(kind, "nested"), ended = !strcmp(kind, "ended");
    if (!strcmp(kind, "names")) { /* its host name is from before its user namespace */
        MUST(unshare(CLONE_NEWUTS));
        child(CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD);
        return;
    }
    MUST(unshare(CLONE_NEWPID));
    pid_t pid = nested || ended ? fork() : -1;
    if (!pid) {
        if (nested) child(CLONE_NEWPID | SIGCHLD), wait_for_end();
        _exit(0);
    }
    if (ended) MUST(waitpid(pid, NULL, 0));
}
#endif
