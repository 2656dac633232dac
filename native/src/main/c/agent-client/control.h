/* The process's connections to its agent: messages, and requests, by which the process asks the agent. Whom the agent
 * asks is the session (session.h). Messages in udckpt.layout, the course of things in
 * docs/reference/control-protocol.md. */
#pragma once
#include "udckpt_layout.h"
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

enum control_agent {
    AGENT_NONE, /* no device opened yet; or stand-alone: UDCKPT_RUNTIME_DIR is not set, or nobody was there */
    AGENT_PRESENT,
    AGENT_LOST, /* the control connection ended: no checkpoint, no new address, until the process ends */
};

struct control {
    int agent;             /* enum control_agent; atomic */
    int started_rank;      /* UDCKPT_RANK: the rank of `run -n` below which this process was started, or -1 */
    int mpi_rank;          /* what the MPI launcher's environment calls this process, or -1 */
    int rank;              /* this process's number among those that have a device, or -1: it has none, or no agent */
    int fd;                /* control connection */
    uint32_t generation;   /* of the agent's last IDENTIFY that this process obeyed */
    char runtime_dir[108]; /* of this incarnation; empty: stand-alone */
    char named_dir[108];   /* what the environment says: the runtime directory of the job's first incarnation */
};
extern struct control control;

__attribute__((format(printf, 1, 2))) void control_log(const char *format, ...);

/* Connects to agent.sock in a runtime directory; the descriptor is high and close-on-exec. */
int control_connect(const char *directory);
int control_send(int fd, const void *message);              /* 0 or -1 with errno */
ssize_t control_receive(int fd, void *buffer, size_t size); /* bytes of one message; 0 at the end; -1 with errno */
int control_hello(int fd, const struct udckpt_msg_identify *identify, uint32_t role);

/* The runtime directory of this incarnation into `directory`. Returns 1 in a restored job, else 0: it is the named
 * one. */
int control_find_directory(const char *named, char *directory, size_t size);

/* The process is about to handle faults of its memory itself (userfaultfd(2)). Returns when the agent has left it
 * alone, or is not there. */
void control_leave_memory(void);

/* Requests: one at a time, over a connection of their own that is opened by the first one. */
enum {
    REQUEST_OK = UDCKPT_STATUS_OK,
    REQUEST_UNKNOWN = UDCKPT_STATUS_UNKNOWN,
    REQUEST_FAILED = UDCKPT_STATUS_FAILED,
    REQUEST_NO_AGENT
};

struct udckpt_msg_register;
int request_register(struct udckpt_msg_register *message); /* fills virtual_qpn */
int request_unregister(struct udckpt_msg_register *message);
int request_resolve(int reverse, uint16_t lid, uint32_t qpn);
/* RoCE: tells the agent which GIDs are at the host of this number, and asks it for the number of a GID's host. */
int request_host(int reverse, uint16_t number, const union ibv_gid *gids, int count);
int request_find_host(int reverse, const union ibv_gid *gid, uint16_t *number);
/* Remote keys of ranks of other nodes: makes the agent put a rank's file into the runtime directory; tells it one of
 * this process's own that the device did not give; asks for one of a rank's that its file does not have. */
int request_peer_keys(int rank);
int request_tell_key(uint32_t virtual_key, uint32_t real_key);
int request_find_key(int rank, uint32_t virtual_key, uint32_t *real_key);
struct udckpt_msg_cm_bind;
int request_cm_bind(struct udckpt_msg_cm_bind *message); /* writes the port */
int request_cm_unbind(struct udckpt_msg_cm_bind *message);
/* writes lid, gid, qpn; REQUEST_FAILED: nobody listens just now */
int request_cm_find(struct udckpt_msg_cm_bind *message);
struct udckpt_msg_located;
int request_locate(struct udckpt_msg_located *answer);
int request_fd(void);      /* -1 when not connected */
void request_forget(void); /* after a restart: the descriptor is not ours any more */
void request_close(void);
void request_forked(void);
