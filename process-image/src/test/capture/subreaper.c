/* Takes orphans in, as supervisors do, and knows all its children: one, which lives. argv[1]: scratch directory;
 * `finish` there asks for the verdict, `result` is the verdict. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void count(int number) {
    (void)number;
    told++;
}

int main(int argc, char **argv) {
    if (argc < 2 || chdir(argv[1]) || prctl(PR_SET_CHILD_SUBREAPER, 1)) return 2;
    signal(SIGCHLD, count);
    pid_t child = fork();
    if (!child)
        for (;;) pause();
    close(open("ready", O_CREAT | O_WRONLY, 0600));
    const char *verdict = "PASS";
    while (access("finish", F_OK)) {
        int status = 0, on = 0;
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended || told) verdict = "FAIL a child that is not its own ended";
        if (prctl(PR_GET_CHILD_SUBREAPER, &on) || !on) verdict = "FAIL it takes no orphans in any more";
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    if (kill(child, SIGKILL) || waitpid(-1, NULL, 0) != child || waitpid(-1, NULL, 0) != -1 || errno != ECHILD)
        verdict = "FAIL it has a child that is not its own";
    FILE *result = fopen("result.new", "w");
    fprintf(result, "%s\n", verdict);
    fclose(result);
    return rename("result.new", "result");
}
