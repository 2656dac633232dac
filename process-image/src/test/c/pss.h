/* What a tree of processes has in memory, counted once: the sum of their proportional sets (Pss of proc_pid_smaps(5)).
 */
#ifndef PSS_H
#define PSS_H
#include "feature.h"

/* Bytes of PID, of all its memory or, between FROM and TO, of the mappings there. -1: it has ended. */
static inline long pss_of(pid_t pid, const void *from, const void *to) {
  char path[64], line[5000], dash;
  snprintf(path, sizeof path, "/proc/%d/smaps", pid);
  FILE *maps = fopen(path, "r");
  if (!maps) return -1;
  long sum = 0, kilobytes;
  unsigned long start, end;
  bool inside = false;
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx%c%lx ", &start, &dash, &end) == 3 && dash == '-')
      inside = !to || (start < (unsigned long)to && end > (unsigned long)from);
    else if (inside && sscanf(line, "Pss: %ld kB", &kilobytes) == 1) sum += kilobytes << 10;
  }
  fclose(maps);
  return sum;
}

/* -1: one of them has ended. */
static inline long pss_sum(const pid_t *pids, int count, const void *from, const void *to) {
  long sum = 0;
  for (int i = 0; i < count; i++) {
    long one = pss_of(pids[i], from, to);
    if (one < 0) return -1;
    sum += one;
  }
  return sum;
}

/* At most a twentieth more than THEN, and SLACK bytes for what a program needs to look at itself. The processes are
 * looked at one after the other, so a single look while they are being killed says nothing, and none when they have
 * been asked to finish. */
static inline void check_pss(const pid_t *pids, int count, const void *from, const void *to, long then, long slack,
                             const char *what) {
  long now = 0;
  for (int looks = 0; looks < 40 && access(scratch("finish"), F_OK); looks++, pause_ms(25))
    if ((now = pss_sum(pids, count, from, to)) >= 0 && now <= then + then / 20 + slack) return;
  CHECK(!access(scratch("finish"), F_OK), "%s: %d processes have %ld KiB in memory, and had %ld", what, count,
        now >> 10, then >> 10);
}
#endif
