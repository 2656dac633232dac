/* What /proc/self/smaps says of a mapping. */
#ifndef SMAPS_H
#define SMAPS_H
#include "feature.h"

enum { FLAGS = 256 };

/* The VmFlags of the mapping that holds AT, with a blank around each; "" where nothing is mapped. Those that come and
 * go by themselves are left out: memory that is still missing after a restart (um), memory that was written (sd). */
static inline void vm_flags(const void *at, char flags[FLAGS]) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  MUST(maps);
  char line[5000], dash;
  bool inside = false;
  unsigned long from, to;
  flags[0] = 0;
  while (fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx%c%lx ", &from, &dash, &to) == 3 && dash == '-')
      inside = (unsigned long)at >= from && (unsigned long)at < to;
    else if (inside && !strncmp(line, "VmFlags:", 8)) {
      strcpy(flags, " ");
      for (char *flag = strtok(line + 8, " \n"); flag; flag = strtok(NULL, " \n"))
        if (strcmp(flag, "um") && strcmp(flag, "uw") && strcmp(flag, "sd") && strlen(flags) + 4 < FLAGS)
          strcat(strcat(flags, flag), " ");
    }
  }
  fclose(maps);
}

static inline bool has_flag(const void *at, const char *flag) {
  char flags[FLAGS], wanted[8];
  vm_flags(at, flags);
  snprintf(wanted, sizeof wanted, " %s ", flag);
  return strstr(flags, wanted);
}
#endif
