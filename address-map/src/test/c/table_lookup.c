/* Looks addresses up in a translation table as a rank does. Lines in: "forward|reverse LID QPN"; lines out:
 * "RANK VIRTUAL_LID VIRTUAL_QPN REAL_LID REAL_QPN VIRTUAL_GID[15] EPOCH", or "none EPOCH". */
#include "address_table.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char error[256], kind[16];
    unsigned lid, qpn;
    if (argc != 2 || address_table_map(argv[1], error, sizeof error)) {
        fprintf(stderr, "table_lookup DIRECTORY: %s\n", argc == 2 ? error : "usage");
        return 1;
    }
    while (scanf("%15s %u %u", kind, &lid, &qpn) == 3) {
        struct address_entry entry;
        if (address_table_find(!strcmp(kind, "reverse"), (uint16_t)lid, qpn, &entry))
            printf("%u %u %u %u %u %u %" PRIu64 "\n", entry.rank, entry.virtual_lid, entry.virtual_qpn, entry.real_lid,
                   entry.real_qpn, address_virtual_gid(entry.virtual_lid)[15], *address_epoch);
        else
            printf("none %" PRIu64 "\n", *address_epoch);
        fflush(stdout);
    }
    return 0;
}
