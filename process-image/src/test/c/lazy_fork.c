/* Children and grandchildren have the memory of the moment of the fork, also what had not been read from the image
 * then. */
#include "blocks.h"
#include <sys/wait.h>

static unsigned char *blocks;
static uint64_t state = 5;

static void look(void) {
  int b = next_random(&state) % BLOCKS;
  check_pattern(blocks + (size_t)b * BLOCK, BLOCK, 1000 + b, "block of a relative");
}

static void await(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0) CHECK(errno == EINTR, "waitpid");
  CHECK(status == 0, "a child ended with status %#x", status);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  blocks = map_blocks();
  feature_ready();
  for (uint64_t round = 0; !feature_finishing(); round++) {
    state += round;
    pid_t child = fork();
    CHECK(child >= 0, "fork");
    if (child == 0) {
      feature_child();
      state += 77;
      look();
      int b = next_random(&state) % BLOCKS;
      fill_pattern(blocks + (size_t)b * BLOCK, BLOCK, 2000 + b); /* nobody else must see it */
      pid_t grandchild = fork();
      CHECK(grandchild >= 0, "fork in a child");
      if (grandchild == 0) {
        feature_child();
        check_pattern(blocks + (size_t)b * BLOCK, BLOCK, 2000 + b, "block that the child has written");
        _exit(0);
      }
      await(grandchild);
      _exit(0);
    }
    look();
    await(child);
    pause_ms(5);
  }
  for (int b = 0; b < BLOCKS; b++) check_pattern(blocks + (size_t)b * BLOCK, BLOCK, 1000 + b, "block");
  return feature_pass();
}
