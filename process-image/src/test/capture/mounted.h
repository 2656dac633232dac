/* What odd.c does in a mount namespace of its own, and a restart would not make again there. */
#ifndef MOUNTED_H
#define MOUNTED_H
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void mounted(const char *kind) {
    MUST(unshare(CLONE_NEWNS | (strcmp(kind, "user") ? 0 : CLONE_NEWUSER)));
    MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    MUST(mkdir("m", 0755));
    MUST(mount("odd", "m", strcmp(kind, "ramfs") ? "tmpfs" : "ramfs", 0, NULL));
    if (!strcmp(kind, "fifo")) {
        MUST(mkdir("n", 0755));
        MUST(mount(".", "n", NULL, MS_BIND, NULL));
        MUST(mkfifo("n/fifo", 0600));
        MUST(open("n/fifo", O_RDWR | O_CLOEXEC));
    } else if (!strcmp(kind, "socket")) {
        struct sockaddr_un name = {AF_UNIX, "n/socket"}; /* another name of what is outside */
        MUST(mkdir("n", 0755));
        MUST(mount(".", "n", NULL, MS_BIND, NULL));
        MUST(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name));
    } else if (!strcmp(kind, "proc")) MUST(umount2("/proc", MNT_DETACH));
    else if (!strcmp(kind, "directory")) {
        MUST(mkdir("m/gone", 0755));
        MUST(chdir("m/gone"));
        MUST(rmdir("../gone"));
        MUST(chdir("../.."));
        MUST(mkdir("m/gone", 0755));
        MUST(open("m/gone", O_RDONLY | O_DIRECTORY));
        MUST(rmdir("m/gone"));
    }
}

#endif
