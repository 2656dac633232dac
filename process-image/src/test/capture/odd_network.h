/* Of odd.c: what has to do with network namespaces, and cannot be captured. */

static void *other_network(void *unused) {
    MUST(unshare(CLONE_NEWNET));
    ready = 1;
    for (;;) pause();
    return unused;
}

static void network(const char *kind) {
    int pair[2], before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (!strcmp(kind, "thread")) {
        start(other_network);
        return;
    }
    if (!strcmp(kind, "pair") || !strcmp(kind, "alone")) MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    if (!strcmp(kind, "pair")) child(SIGCHLD);
    MUST(unshare(CLONE_NEWNET));
    if (!strcmp(kind, "device")) MUST(-system("ip link add odd0 type veth peer name odd1"));
    if (!strcmp(kind, "route")) MUST(-system("ip link set lo up && ip route add 10.1.0.0/16 dev lo"));
    if (!strcmp(kind, "rule")) MUST(-system("ip rule add from 10.0.0.1 table 5"));
    if (!strcmp(kind, "address")) MUST(-system("ip address add 10.1.0.1/16 dev lo valid_lft 900 preferred_lft 900"));
    if (!strcmp(kind, "socket")) {
        MUST(socket(AF_INET, SOCK_STREAM, 0));
        MUST(setns(before, CLONE_NEWNET));
    }
    close(before);
}
