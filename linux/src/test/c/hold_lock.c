// The stranger who locks what others need: takes every kind of lock on a file or directory that he can open, makes the
// file for everybody where it is not there, and holds on until his standard input ends.
//
//   hold_lock PATH
//
// Prints how many locks he has; 0: he could not open it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: hold_lock PATH\n");
        return 64;
    }
    umask(0);
    int locks = 0;
    int file = open(argv[1], O_RDWR | O_CREAT, 0666);
    if (file < 0)
        file = open(argv[1], O_RDONLY); // a directory, or what can only be read
    if (file >= 0) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        locks += fcntl(file, F_SETLK, &whole) == 0;
        whole.l_type = F_RDLCK; // enough to keep a writer out
        locks += fcntl(file, F_SETLK, &whole) == 0;
        locks += flock(file, LOCK_EX | LOCK_NB) == 0;
    }
    printf("%d\n", locks);
    fflush(stdout);
    char end;
    while (read(STDIN_FILENO, &end, 1) > 0) {
    }
    return 0;
}
