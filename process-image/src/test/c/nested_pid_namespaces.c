/* Containers in containers. */
#include "container.h"

int main(int argc, char **argv) {
  static const char *const all[] = {"uuu", "uc", "cc", "cu"};
  return containers(argc, argv, all, 4);
}
