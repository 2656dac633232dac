/* Handles faults of its memory itself (userfaultfd(2)), but only when TAKE is there: what had been told to the kernel
 * about this memory before, by others, must not be in the way. It gives it up again at once.
 *
 *   late_faults TAKE FINISH */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void await(const char *file)
{
    while (access(file, F_OK))
        usleep(10000);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    size_t size = 8 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memset(memory, 1, size);
    printf("ready\n");
    fflush(stdout);
    await(argv[1]);
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register all = {.range = {(unsigned long)memory, size}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &all)) {
        perror("FAIL");
        return 1;
    }
    close(fd);
    printf("taken\n");
    fflush(stdout);
    await(argv[2]);
    return 0;
}
