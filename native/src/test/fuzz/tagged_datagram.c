/* Datagrams with tags, as between hosts: right ones, wrong ones, and right ones again. A byte behind each says which.
 */
/* links: libudckpt */
#define TAGGED 1
#include "datagram.c"
