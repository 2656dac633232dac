/* A process that has shut itself in: no device file is made here (Landlock), whatever its user may. */
#include "feature.h"
#include <sys/prctl.h>
#include <sys/sysmacros.h>

enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, MAKE_BLOCK = 1 << 11 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  uint64_t handled = MAKE_BLOCK;
  int rules = syscall(CREATE_RULESET, &handled, sizeof handled, 0);
  bool known = rules >= 0;
  MUST(!known || (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(RESTRICT_SELF, rules, 0) && !close(rules)));
  feature_ready();
  while (!feature_finishing()) {
    CHECK(!known || (mknod(scratch("block"), S_IFBLK | 0600, makedev(1, 0)) && (errno == EACCES || errno == EPERM)),
          "a device file could be made");
    pause_ms(5);
  }
  return feature_pass();
}
