/* XRC, of programs that call it through the context (verbs.h). A device knows a domain as a protection domain
 * (verbs_device.h): ours has one of its own, and a completion queue that nothing comes to, since the targets that are
 * made in it have neither.
 *
 * A domain that is opened with a file is the one that this process has opened with that file before. Other processes
 * have domains of their own: they could share a target only by ibv_open_qp, which is refused. */
#include "interposer.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

struct domain {
    struct ibv_xrcd xrcd;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct domain *next;
    unsigned opened;
    int has_file;
    dev_t device;
    ino_t inode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct domain *domains;

static struct domain *make(struct ibv_context *context)
{
    struct domain *domain = calloc(1, sizeof *domain);
    if (!domain)
        return NULL;
    domain->xrcd.context = context;
    domain->pd = top_device()->alloc_pd(context);
    domain->cq = domain->pd ? top_device()->create_cq(context, 1, NULL, NULL, 0) : NULL;
    if (domain->cq)
        return domain;
    int error = errno;
    if (domain->pd)
        top_device()->dealloc_pd(domain->pd);
    free(domain);
    errno = error;
    return NULL;
}

static struct domain *find(const struct ibv_context *context, const struct stat *file)
{
    struct domain *domain = domains;
    while (domain && !(domain->xrcd.context == context && domain->has_file && domain->device == file->st_dev &&
                       domain->inode == file->st_ino))
        domain = domain->next;
    return domain;
}

/* As the kernel has it: one that is not there is made if O_CREAT says so, one that is there is an error if O_EXCL does.
 */
static struct domain *open_with(struct ibv_context *context, int fd, int oflags)
{
    struct stat file;
    if (fd == -1)
        return make(context);
    if (fstat(fd, &file))
        return NULL;
    struct domain *domain = find(context, &file);
    if (domain ? oflags & O_EXCL : !(oflags & O_CREAT)) {
        errno = domain ? EINVAL : EAGAIN;
        return NULL;
    }
    if (domain || !(domain = make(context)))
        return domain;
    domain->has_file = 1;
    domain->device = file.st_dev;
    domain->inode = file.st_ino;
    return domain;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    if (attr->comp_mask != (IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS)) {
        errno = EINVAL;
        return NULL;
    }
    pthread_mutex_lock(&lock);
    struct domain *domain = open_with(context, attr->fd, attr->oflags);
    if (domain && !domain->opened++) {
        domain->next = domains;
        domains = domain;
    }
    pthread_mutex_unlock(&lock);
    return domain ? &domain->xrcd : NULL;
}

/* Returns 0 or an errno: EBUSY while there are targets or shared queues. */
static int close_last(struct domain *domain)
{
    int error = top_device()->dealloc_pd(domain->pd);
    if (error)
        return error;
    struct domain **link = &domains;
    while (*link != domain)
        link = &(*link)->next;
    *link = domain->next;
    top_device()->destroy_cq(domain->cq);
    free(domain);
    return 0;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
    struct domain *domain = (struct domain *)xrcd;
    int error = 0;
    pthread_mutex_lock(&lock);
    if (domain->opened > 1)
        domain->opened--;
    else
        error = close_last(domain);
    pthread_mutex_unlock(&lock);
    return error;
}

struct ibv_qp *interposer_create_target(struct ibv_qp_init_attr_ex *attr)
{
    const struct domain *domain = (const struct domain *)attr->xrcd;
    struct ibv_qp_init_attr init = {
        .qp_context = attr->qp_context, .send_cq = domain->cq, .recv_cq = domain->cq, .qp_type = attr->qp_type};
    if (attr->send_ops_flags && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
        errno = EINVAL;
        return NULL;
    }
    struct ibv_qp *qp = top_device()->create_qp(domain->pd, &init);
    if (qp)
        attr->cap = init.cap;
    return qp;
}

/* The extended attributes begin with the plain ones: ibv_create_srq_ex in verbs.h relies on it, too. */
static struct ibv_srq *create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    const uint32_t xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    struct ibv_srq_init_attr *plain = (struct ibv_srq_init_attr *)attr;
    enum ibv_srq_type type = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC;
    if (type == IBV_SRQT_TM || attr->comp_mask & IBV_SRQ_INIT_ATTR_TM) {
        interposer_refuse("ibv_create_srq_ex with tag matching", "the queue's tags are not checkpointed");
        return NULL;
    }
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || (type == IBV_SRQT_XRC && (attr->comp_mask & xrc) != xrc)) {
        errno = EINVAL;
        return NULL;
    }
    return type == IBV_SRQT_XRC
               ? top_device()->create_xrc_srq(attr->pd, plain, ((struct domain *)attr->xrcd)->pd, attr->cq, 0)
               : top_device()->create_srq(attr->pd, plain);
}

static int srq_number(struct ibv_srq *srq, uint32_t *number)
{
    return top_device()->srq_number(srq, number);
}

void interposer_fill_xrc(struct ibv_context *context)
{
    if (context->abi_compat != __VERBS_ABI_IS_EXTENDED || !top_device()->extends || !top_is_soft())
        return;
    struct verbs_context *extended = verbs_get_ctx(context);
    extended->open_xrcd = open_xrcd;
    extended->close_xrcd = close_xrcd;
    extended->create_srq_ex = create_srq;
    extended->get_srq_num = srq_number;
}
