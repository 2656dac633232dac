package org.udckpt.address;

import org.udckpt.layout.Layout;

/** What a queue pair carries; REGISTER says it by these numbers. */
public enum Transport {
    /** Unreliable datagrams. */
    UD(Layout.TRANSPORT_UD),
    /** A reliable connection. */
    RC(Layout.TRANSPORT_RC),
    /** An unreliable connection. */
    UC(Layout.TRANSPORT_UC);

    private final int code;

    Transport(int code) {
        this.code = code;
    }

    /** Whether each queue pair has one peer. */
    public boolean isConnected() {
        return this != UD;
    }

    /** As in {@code udckpt.layout}. */
    public int code() {
        return code;
    }

    /** @throws IllegalArgumentException for a number that is none */
    public static Transport of(int code) {
        for (Transport transport : values()) {
            if (transport.code == code) {
                return transport;
            }
        }
        throw new IllegalArgumentException("transport " + code + " is neither UD nor RC nor UC");
    }
}
