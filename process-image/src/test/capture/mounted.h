/* What odd.c does in a mount namespace of its own, and a restart would not make again there. */
#ifndef MOUNTED_H
#define MOUNTED_H
#include <fcntl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_map(const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", getppid(), file);
    int fd = open(path, O_WRONLY);
    MUST(write(fd, "0 0 1\n1 61001 1\n", 16) - 16);
    MUST(close(fd));
}

/* As somebody else than who has made the user namespace, and with the rights to go on. */
static void become_other(void) {
    int ends[2];
    char byte;
    MUST(pipe(ends));
    pid_t helper = fork();
    if (!helper) {
        MUST(read(ends[0], &byte, 1) - 1);
        write_map("gid_map");
        write_map("uid_map");
        _exit(0);
    }
    MUST(unshare(CLONE_NEWUSER));
    MUST(write(ends[1], "", 1) - 1);
    MUST(waitpid(helper, NULL, 0) - helper);
    MUST(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0));
    MUST(setresuid(0, 1, 0));
}

/* Only a child in a namespace of its own has it open then. */
static void leave_to_child(int file) {
    int ends[2];
    char byte;
    MUST(pipe(ends));
    if (!fork()) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        MUST(unshare(CLONE_NEWNS));
        MUST(write(ends[1], "", 1) - 1);
        for (;;) pause();
    }
    MUST(read(ends[0], &byte, 1) - 1);
    MUST(close(file));
}

static void write_own(const char *file, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/%s", file);
    int fd = open(path, O_WRONLY);
    MUST(write(fd, text, strlen(text)) - (ssize_t)strlen(text));
    MUST(close(fd));
}

/* In a user namespace and a mount namespace of its own, with a file system, as those are that it makes then. */
static void in_user_namespace(void) {
    MUST(unshare(CLONE_NEWUSER | CLONE_NEWNS));
    write_own("setgroups", "deny");
    write_own("uid_map", "0 0 1");
    write_own("gid_map", "0 0 1");
    MUST(mkdir("m", 0755));
    MUST(mount("odd", "m", "tmpfs", 0, NULL));
}

/* Two have a file system that the namespace above them has no more. */
static void siblings(void) {
    in_user_namespace();
    for (int i = 0; i < 2; i++) child(CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD);
    MUST(umount("m"));
}

static void mounted(const char *kind) {
    if (!strcmp(kind, "siblings")) {
        siblings();
        return;
    }
    if (!strcmp(kind, "user")) {
        become_other();
        return;
    }
    MUST(unshare(CLONE_NEWNS));
    MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    MUST(mkdir("m", 0755));
    MUST(mount("odd", "m", strcmp(kind, "ramfs") ? "tmpfs" : "ramfs", 0, NULL));
    if (!strcmp(kind, "fifo")) {
        MUST(mkdir("n", 0755));
        MUST(mount(".", "n", NULL, MS_BIND, NULL));
        MUST(mkfifo("n/fifo", 0600));
        MUST(open("n/fifo", O_RDWR | O_CLOEXEC));
    } else if (!strcmp(kind, "child")) leave_to_child(open("m/file", O_RDWR | O_CREAT, 0600));
    else if (!strcmp(kind, "readonly")) {
        MUST(open("m/file", O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
        MUST(unlink("m/file"));
        MUST(mount(NULL, "m", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
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
