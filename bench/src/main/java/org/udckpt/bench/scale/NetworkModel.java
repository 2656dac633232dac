package org.udckpt.bench.scale;

/**
 * What messages between nodes cost.
 *
 * @param latency nanoseconds from the last byte's leaving to its arrival, switches included
 * @param bytesPerNano of a node's link, each way
 * @param perMessage nanoseconds of processor time at the sender, and again at the receiver; a node's agent does one at
 *     a time
 * @param perByte the same for each byte of a message: encoding, TLS, tables
 * @param overhead bytes of other layers' headers around a message
 */
record NetworkModel(String name, long latency, double bytesPerNano, long perMessage, double perByte, int overhead) {
    /**
     * Processor time of one end for a call of Flight with one message, the answer included: results/links.txt has 309
     * us for two.
     */
    private static final long CALL = 160_000;
    /** A management network of gigabit Ethernet: what the bars are held against. */
    static final NetworkModel GIGABIT = new NetworkModel("1 GbE", 20_000, 0.125, CALL, 50, 200);
    static final NetworkModel FAST = new NetworkModel("25 GbE", 10_000, 3.125, CALL, 50, 200);

    long wire(int bytes) {
        return (long) ((bytes + overhead) / bytesPerNano);
    }

    long processor(int bytes) {
        return (long) (perMessage + bytes * perByte);
    }
}
