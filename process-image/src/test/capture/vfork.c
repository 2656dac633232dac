/* Starts short-lived programs by vfork for ever, and checks how each ends. While the child has not called exec, its
 * parent cannot be stopped. argv[1]: scratch directory; `finish` there asks for the verdict, `result` is the verdict.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2 || chdir(argv[1])) return 2;
    close(open("ready", O_CREAT | O_WRONLY, 0600));
    const char *verdict = "PASS\n";
    while (access("finish", F_OK)) {
        pid_t child = vfork();
        if (!child) {
            struct timespec pause = {0, 10000000};
            nanosleep(&pause, NULL);
            execl("/bin/true", "true", (char *)0);
            _exit(1);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status) {
            verdict = "FAIL\n";
            break;
        }
    }
    FILE *result = fopen("result.new", "w");
    fputs(verdict, result);
    fclose(result);
    return rename("result.new", "result");
}
