package org.udckpt.address;

/**
 * One queue pair of the job: what the job calls it and where it is in this incarnation.
 *
 * @param rank     number of the process that owns it
 * @param virtual  the address that the job sees, for ever
 * @param real     the device's address in this incarnation; null between a load from an image and the rank's REGISTER
 * @param transport what it carries
 */
public record Endpoint(int rank, VerbsAddress virtual, VerbsAddress real, Transport transport) {
    /** One of datagrams, or of which nobody asks: the translation table does not tell transports apart. */
    public Endpoint(int rank, VerbsAddress virtual, VerbsAddress real) {
        this(rank, virtual, real, Transport.UD);
    }

    Endpoint withoutReal() {
        return new Endpoint(rank, virtual, null, transport);
    }
}
