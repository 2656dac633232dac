/* Sends 1000 numbered datagrams in bursts to itself and prints the numbers in the order of arrival.
 * The driver compares runs: see SoftFabricFaultsTest. */
#include "fabric.h"

int main(void)
{
    enum { COUNT = 1000, BURST = 20 };
    struct end a = make_end((struct end_options){.recv_wr = 128});
    for (unsigned i = 0; i < 100; i++)
        EQUAL(0, post_recv(&a, i * 1024, 128));
    for (uint32_t i = 0; i < COUNT; i++) {
        memcpy(a.memory + 0x80000, &i, 4);
        EQUAL(0, post_send(&a, &a, 0x80000, 4, 0));
        if ((i + 1) % BURST)
            continue;
        struct ibv_wc wc[8];
        for (int empty = 0; empty < 100;) { /* long enough for one that is held back */
            int n = ibv_poll_cq(a.recv_cq, 8, wc);
            CHECK(n >= 0);
            empty = n ? 0 : empty + 1;
            for (int k = 0; k < n; k++) {
                uint32_t number;
                memcpy(&number, a.memory + wc[k].wr_id + GRH, 4);
                printf("%u\n", number);
                EQUAL(0, post_recv(&a, wc[k].wr_id, 128));
            }
        }
    }
    return 0;
}
