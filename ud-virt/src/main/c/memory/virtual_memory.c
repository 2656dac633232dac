/* Protection domains and memory regions. A virtual key is the real one of the first incarnation, if no other
 * region has it, so there is nothing to translate until a restart gives a region another real key. */
#include "keys_file.h"
#include "virtual.h"
#include "virtual_window.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "data-path/generic_path.h"
#include <errno.h>
#include <stdlib.h>

enum { KEY_BUCKETS = 1024, MAX_CHAIN = 1 << 20 };
static struct v_mr *keys[KEY_BUCKETS];
/* Readers take no lock: they look again when the version was odd or has moved. What they walk over stays
 * memory of this kind, because a region that is gone goes to the pool and not to free(). */
static uint32_t keys_version;
static struct v_mr *pool;
static pthread_mutex_t keys_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_key = UDCKPT_KEYS_GIVEN;
static struct v_mw *blocks; /* windows whose numbers are given */

static void begin_change(void)
{
    pthread_mutex_lock(&keys_mutex);
    __atomic_add_fetch(&keys_version, 1, __ATOMIC_SEQ_CST);
}

static void end_change(void)
{
    __atomic_add_fetch(&keys_version, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&keys_mutex);
}

/* Device keys have their index in the upper 24 bits on some hardware and in the lower ones on other. */
static struct v_mr **bucket(uint32_t key)
{
    return &keys[(key ^ key >> 8 ^ key >> 16) % KEY_BUCKETS];
}

static struct v_mr *find_key(uint32_t key)
{
    struct v_mr *mr = *bucket(key);
    while (mr && mr->mr.lkey != key)
        mr = mr->next_key;
    return mr;
}

/* One look; the chain may change under it, so its length is bounded and the caller checks the version. */
static uint32_t look_up(uint32_t key)
{
    const struct v_mr *mr = __atomic_load_n(bucket(key), __ATOMIC_RELAXED);
    for (int steps = 0; mr && steps < MAX_CHAIN; steps++) {
        if (__atomic_load_n(&mr->mr.lkey, __ATOMIC_RELAXED) == key)
            return __atomic_load_n(&mr->real_lkey, __ATOMIC_RELAXED);
        mr = __atomic_load_n(&mr->next_key, __ATOMIC_RELAXED);
    }
    return key;
}

uint64_t virtual_near_keys[NEAR_KEYS];

uint32_t virtual_far_key(uint32_t key)
{
    for (;;) {
        uint32_t version = __atomic_load_n(&keys_version, __ATOMIC_ACQUIRE);
        uint32_t real = look_up(key);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (LIKELY(!(version & 1) && __atomic_load_n(&keys_version, __ATOMIC_RELAXED) == version))
            return real;
        __builtin_ia32_pause();
    }
}

void virtual_translate_sges(struct ibv_sge *sges, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sges[i].lkey = real_key(sges[i].lkey);
}

/* A key that is not found belongs to memory that the job has deregistered; the device of the next incarnation does not
 * know it either. */
void virtual_untranslate_sges(const struct v_context *context, struct ibv_sge *sges, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        FOR_EACH(struct v_mr, link, mr, &context->mrs)
    if (mr->real_lkey == sges[i].lkey) {
        sges[i].lkey = mr->mr.lkey;
        break;
    }
}

static void come_near(const struct v_mr *mr)
{
    __atomic_store_n(near_key(&mr->mr.lkey), (uint64_t)mr->real_lkey << 32 | mr->mr.lkey, __ATOMIC_RELEASE);
}

/* In a restart, with the gate closed: the region has another real key. */
void virtual_set_real_key(struct v_mr *mr)
{
    mr->real_lkey = mr->real->lkey;
    virtual_keys_differ |= mr->real_lkey != mr->mr.lkey;
    come_near(mr);
}

static struct v_mr *take_from_pool(void)
{
    pthread_mutex_lock(&keys_mutex);
    struct v_mr *mr = pool;
    if (mr)
        pool = (struct v_mr *)mr->mr.addr;
    pthread_mutex_unlock(&keys_mutex);
    return mr ? mr : calloc(1, sizeof *mr);
}

static void return_to_pool(struct v_mr *mr)
{
    pthread_mutex_lock(&keys_mutex);
    mr->mr.addr = pool;
    pool = mr;
    pthread_mutex_unlock(&keys_mutex);
}

struct ibv_pd *virtual_alloc_pd(struct ibv_context *context)
{
    if (!gate_enter())
        return NULL;
    struct v_pd *pd = calloc(1, sizeof *pd);
    if (pd && !(pd->real = lower_device->alloc_pd(context_of(context)->real))) {
        free(pd);
        pd = NULL;
    }
    if (pd) {
        pd->pd.context = context;
        pthread_mutex_lock(&virtual_mutex);
        list_append(&context_of(context)->pds, &pd->link);
        pthread_mutex_unlock(&virtual_mutex);
    }
    gate_leave();
    return pd ? &pd->pd : NULL;
}

int virtual_dealloc_pd(struct ibv_pd *virtual)
{
    struct v_pd *pd = (struct v_pd *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = __atomic_load_n(&pd->users, __ATOMIC_RELAXED) ? EBUSY : 0;
    if (!error) {
        virtual_forget_real_ahs(pd, !is_closed(virtual->context));
        error = is_closed(virtual->context) ? 0 : lower_device->dealloc_pd(pd->real);
    }
    if (!error) {
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&pd->link);
        pthread_mutex_unlock(&virtual_mutex);
        virtual_forget_void_routes(pd);
        free(pd);
    }
    gate_leave();
    return error;
}

static int is_in_block(uint32_t key)
{
    const struct v_mw *mw = blocks;
    while (mw && (mw->mw.handle ^ key) >= 256)
        mw = mw->next_block;
    return mw != NULL;
}

/* 0 is no key of virtual_near_keys. The peers' table has a mutex of its own, which nobody holds for long. */
static int may_be_given(uint32_t key)
{
    return key && !find_key(key) && !keys_file_has_told(key) && !is_in_block(key);
}

static int is_free_block(uint32_t first)
{
    for (uint32_t key = first; key < first + 256; key++)
        if (!may_be_given(key) && key)
            return 0;
    return 1;
}

/* The one after this number: none is given twice. */
static uint32_t next_block(void)
{
    uint32_t first = (next_key + 255) & ~0xffu;
    if (first < UDCKPT_KEYS_GIVEN || first >= UINT32_MAX - 512)
        first = (UDCKPT_KEYS_GIVEN + 255) & ~0xffu;
    next_key = first + 256;
    return first;
}

uint32_t virtual_give_block(struct v_mw *mw)
{
    begin_change();
    uint32_t first = keys_file_is_unread() ? mw->real->rkey & ~0xffu : next_block();
    while (!is_free_block(first))
        first = next_block();
    mw->mw.handle = first | (mw->real->rkey & 0xff);
    mw->next_block = blocks;
    blocks = mw;
    end_change();
    return mw->mw.handle;
}

void virtual_take_block_back(struct v_mw *mw)
{
    begin_change();
    struct v_mw **link = &blocks;
    while (*link != mw)
        link = &(*link)->next_block;
    *link = mw->next_block;
    end_change();
}

static void publish_key(struct v_mr *mr)
{
    begin_change();
    uint32_t key = mr->real->lkey;
    /* on the fused path the device knows keys by context, and translates none */
    while (!virtual_fused_path() && !may_be_given(key)) {
        key = next_key;
        next_key = next_key == UINT32_MAX - 1 ? UDCKPT_KEYS_GIVEN : next_key + 1;
    }
    mr->real_lkey = mr->real->lkey;
    mr->mr.lkey = key;
    mr->mr.rkey = key;
    if (key != mr->real_lkey)
        __atomic_store_n(&virtual_keys_differ, 1, __ATOMIC_RELEASE);
    mr->next_key = *bucket(key);
    *bucket(key) = mr;
    come_near(mr);
    end_change();
}

static void withdraw_key(struct v_mr *mr)
{
    begin_change();
    struct v_mr **link = bucket(mr->mr.lkey);
    while (*link != mr)
        link = &(*link)->next_key;
    *link = mr->next_key;
    if ((uint32_t)*near_key(&mr->mr.lkey) == mr->mr.lkey)
        __atomic_store_n(near_key(&mr->mr.lkey), 0, __ATOMIC_RELAXED);
    end_change();
}

enum { REMOTE = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

/* To peers, who may name only memory that gives them a right; on the fused path the device keeps the keys. */
int virtual_tell_key(const struct v_mr *mr)
{
    return virtual_fused_path() || !(mr->access & REMOTE) ? 0 : keys_file_publish(mr->mr.rkey, mr->real->rkey);
}

static struct v_mr *make_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
    struct v_mr *mr = take_from_pool();
    if (!mr)
        return NULL;
    mr->real = lower_device->reg_mr(((struct v_pd *)pd)->real, addr, length, iova, access);
    if (!mr->real) {
        int saved = errno;
        return_to_pool(mr);
        errno = saved;
        return NULL;
    }
    mr->mr.context = pd->context;
    mr->mr.pd = pd;
    mr->mr.addr = addr;
    mr->mr.length = length;
    mr->iova = iova;
    mr->access = access;
    publish_key(mr);
    if (virtual_tell_key(mr)) {
        lower_device->dereg_mr(mr->real);
        withdraw_key(mr);
        return_to_pool(mr);
        errno = ENOMEM;
        return NULL;
    }
    if (!virtual_fused_path() && access & REMOTE)
        keys_file_announce(mr->mr.rkey, mr->real->rkey);
    pd_used(pd, 1);
    pthread_mutex_lock(&virtual_mutex);
    if (mr->mr.lkey != mr->real_lkey)
        FOR_EACH(struct v_context, link, context, &virtual_contexts)
    generic_choose_paths(context);
    list_append(&context_of(pd->context)->mrs, &mr->link);
    pthread_mutex_unlock(&virtual_mutex);
    return mr;
}

struct ibv_mr *virtual_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
    if (!gate_enter())
        return NULL;
    struct v_mr *mr = make_mr(pd, addr, length, iova, access);
    gate_leave();
    return mr ? &mr->mr : NULL;
}

int virtual_dereg_mr(struct ibv_mr *virtual)
{
    struct v_mr *mr = (struct v_mr *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = is_closed(virtual->context) ? 0 : lower_device->dereg_mr(mr->real);
    if (!error) {
        if (!virtual_fused_path())
            keys_file_withdraw(mr->mr.rkey);
        withdraw_key(mr);
        pd_used(virtual->pd, -1);
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&mr->link);
        virtual_forget_windows_of(context_of(virtual->context), mr, NULL);
        pthread_mutex_unlock(&virtual_mutex);
        return_to_pool(mr);
    }
    gate_leave();
    return error;
}
