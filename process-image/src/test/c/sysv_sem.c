/* System V semaphores: values and id. A capture that cannot keep them must refuse by name. */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/sem.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int set = semget(0x75640000 | (getpid() & 0xffff), 3, IPC_CREAT | 0600);
  MUST(set >= 0);
  unsigned short values[] = {5, 0, 31};
  MUST(!semctl(set, 0, SETALL, values));
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    struct sembuf down = {0, -1, 0}, up = {0, 1, 0};
    CHECK(!semop(set, &down, 1) && !semop(set, &up, 1), "the semaphore set %d is gone", set);
    unsigned short now[3];
    CHECK(!semctl(set, 0, GETALL, now) && now[0] == 5 && now[1] == 0 && now[2] == 31, "semaphore values %d %d %d",
          now[0], now[1], now[2]);
    pause_ms(2);
  }
  MUST(!semctl(set, 0, IPC_RMID));
  return feature_pass();
}
