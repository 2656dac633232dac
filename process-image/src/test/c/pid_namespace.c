/* Containers beside each other. */
#include "container.h"

int main(int argc, char **argv) {
  static const char *const all[] = {"u", "c"};
  return containers(argc, argv, all, 2);
}
