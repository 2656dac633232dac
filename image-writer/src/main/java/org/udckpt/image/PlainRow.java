package org.udckpt.image;

/** A record of which tables have very many: it gives its components without reflection. */
public interface PlainRow {
    /** Component {@code index} of the record, which is an int or a long. */
    long number(int index);

    /** Any other one; null where there is none. */
    Object other(int index);
}
