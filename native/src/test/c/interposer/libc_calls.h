/* What the parts of libc_calls have in common. */
#pragma once
#include <stddef.h>

/* libc_calls_arguments.c: lines of output, without stdio. */
void put(const char *text);
void put_number(long value);
void end_line(void);
void show_lines(void);

/* Arguments: paths, and buffers for what a function tells. */
struct path {
    const char *name, *at;
};
enum { MOST_PATHS = 40 };
extern struct path paths[MOST_PATHS], buffers[8];
extern int path_count, buffer_count;
extern char folder[], file[];
extern const char *context; /* where the program is */
void add_path(const char *name, const void *at);
const char *at_end(const char *text, int terminated);
void make_arguments(void);

/* libc_calls_drive.c: the functions, called with those. */
extern const char *const driven[];
extern const size_t driven_count;
extern volatile int allocations; /* while one was called */
void on_fault(int signal);
void drive_stat(const struct path *path);
void drive_access(const struct path *path);
void drive_open(const struct path *path);
void drive_watch(const struct path *path);
void drive(const char *where);
