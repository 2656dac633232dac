/* Makes and removes a name in a directory that everybody may write to, as fast as it can: as a directory, as a symbolic
 * link to argv[2], as a file; until it is killed. Whoever looks at the name first and uses it afterwards meets each of
 * them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 64;
    const char *name = argv[1];
    umask(0);
    for (unsigned round = 0;; round++) {
        if (mkdir(name, 0777) == 0) {
            if (round % 7 == 6)
                usleep(300);
            rmdir(name);
        }
        if (symlink(argv[2], name) == 0) {
            if (round % 5 == 4)
                usleep(300);
            unlink(name);
        }
        int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0666);
        if (fd >= 0) {
            close(fd);
            unlink(name);
        }
    }
}
