/* Doubly linked rings: an element is linked by a member of its own, in the order of creation. */
#pragma once
#include <stddef.h>

struct v_link {
    struct v_link *next, *previous;
};

#define CONTAINER(type, member, pointer) ((type *)((char *)(pointer)-offsetof(type, member)))
#define FOR_EACH(type, member, item, list) \
    for (type *item = CONTAINER(type, member, (list)->next), \
              *item##_next = CONTAINER(type, member, item->member.next); \
         &item->member != (list); item = item##_next, item##_next = CONTAINER(type, member, item->member.next))

static inline void list_init(struct v_link *list)
{
    list->next = list->previous = list;
}

static inline void list_append(struct v_link *list, struct v_link *link)
{
    link->previous = list->previous;
    link->next = list;
    list->previous->next = link;
    list->previous = link;
}

static inline void list_remove(struct v_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    list_init(link);
}
