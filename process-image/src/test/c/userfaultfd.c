/* userfaultfd: not captured; the checkpoint must be refused by name and the program go on unharmed. */
#include "feature.h"
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static int faults;
static char *area;

static void *server(void *unused) {
  static char page[PAGE];
  struct uffd_msg message;
  for (int served = 0; served < 1 << 20; served++) {
    CHECK(read(faults, &message, sizeof message) == sizeof message && message.event == UFFD_EVENT_PAGEFAULT,
          "read of a userfaultfd");
    memset(page, 0x5a, PAGE);
    struct uffdio_copy copy = {
        .dst = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1), .src = (uint64_t)page, .len = PAGE};
    CHECK(!ioctl(faults, UFFDIO_COPY, &copy), "UFFDIO_COPY");
  }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY); /* ordinary users may have this kind only */
  CHECK(faults >= 0, "userfaultfd");
  struct uffdio_api api = {.api = UFFD_API};
  MUST(!ioctl(faults, UFFDIO_API, &api));
  area = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(uint64_t)area, PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  MUST(area != MAP_FAILED && !ioctl(faults, UFFDIO_REGISTER, &range));
  start_thread(server, NULL);
  feature_ready();
  while (!feature_finishing()) {
    volatile char *byte = area + 17;
    CHECK(*byte == 0x5a, "a fault was answered with %#x", *byte);
    MUST(!madvise(area, PAGE, MADV_DONTNEED));
    pause_ms(3);
  }
  return feature_pass();
}
