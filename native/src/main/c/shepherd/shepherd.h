/*
 * The shepherd: parent of a node's ranks (or pid 1 of the namespaces of a restored job). One thread, one
 * poll loop. It starts ranks, reaps them, relays their PMI connections, and outlives the agent: a rank must
 * never notice that its checkpointer died. Protocol: docs/reference/control-protocol.md.
 */
#pragma once
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
  SHEPHERD_MAX_ROOTS = 1024,    /* ranks of one node; more than any node has hardware threads today */
  SHEPHERD_MAX_EXPECTED = 4096, /* snapshots alive at a time: one a process and checkpoint in flight */
  SHEPHERD_LINE = 8192,         /* longest command: a word, a number and a path */
};

/* A root is a process whose exit is the agent's business: a rank, or the restored first process of one. */
struct root {
  pid_t pid;      /* as this process sees it */
  pid_t host_pid; /* as the agent sees it */
  bool stub;      /* not yet a rank: killed when the agent goes (see go) */
};

/* shepherd_agent.c: the agent's connection */
void agent_attach(int fd);
int agent_fd(void);     /* -1: gone */
bool agent_bound(void); /* the job has ranks elsewhere, too */
void agent_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_readable(void);
void agent_writable(void);
bool agent_is_behind(void); /* it reads no lines at the moment, and gets no more commands done until it does */

/* shepherd_children.c */
void child_add(pid_t pid, pid_t host_pid, bool stub);
void child_adopt(pid_t pid, pid_t host_pid);
void child_expect(pid_t pid);
void children_go(void);
void children_reap(void);
bool children_include(pid_t pid);
int children_roots(void);
int children_signal(int number, pid_t host_pid);
void children_kill_expected(void);
int children_kill_stubs(void);
void children_kill_roots(void);
void children_kill_all(void);
void children_continue_all(void);
int job_code(void);
void job_set_code(int code);
void shepherd_exit(void) __attribute__((noreturn)); /* kills what is left, exits with the job's code */

/* shepherd_spawn.c */
void spawn_rank(int rank, const char *spec_path);

/* shepherd_queue.c: for the agent, as a process of its own */
int queue_copy(const char *path);

/* shepherd_inherit.c: what a rank has from the user's shell */
bool inherit_read(void);
void inherit_signals(void);
int inherit_limits(void);

/* shepherd_namespace.c */
int namespaces_enter(long long offset_ns, char *error, size_t size);
int proc_mount(char *error, size_t size);
void mount_unescape(char *path);
int mounts_copy(void); /* shepherd_mounts.c */
void ipc_remember(void);
int ipc_set(char *error, size_t size);
bool namespaces_restored(void);
pid_t host_pid_of_self(void);
pid_t pid_from_host(pid_t host_pid);
void clock_set(long long offset_ns);
void last_pid_set(long pid);
void parent_become(pid_t pid);
void stub_make(pid_t pid);

/* shepherd_pmi.c: one relay a rank between its PMI descriptor and the agent's pmi.sock */
int pmi_open(int rank, const char *path); /* the rank's end, or -1 with errno */
void pmi_taken(int fd);                   /* the rank has its own copy of its end: close ours */
int pmi_poll(struct pollfd *fds);         /* fills, returns the count (two a relay) */
void pmi_ready(const struct pollfd *fds);

/* shepherd_lazy.c: descriptors through which the agent fills memory while the job runs */
void lazy_open(void);
bool lazy_taken(int fd); /* the agent has its end; false: it is another descriptor */
int lazy_fd(void);       /* -1: none */
void lazy_readable(void);
void lazy_lost(void); /* the agent is gone: ends the job if memory is missing */

/* shepherd_alone.c: what the relay answers itself when the agent is gone */
struct relay;
void alone_answer(struct relay *relay, const char *line);
void alone_check_barrier(void);
