package org.udckpt.process.kinds.binaryoption;

import org.udckpt.process.model.KernelObject;

/**
 * An option of socket {@code object} whose value is more than a number: options in the headers of what it sends
 * (IP_OPTIONS, IPV6_HOPOPTS and others), a filter of types
 * (ICMPV6_FILTER).
 *
 * @param optionLevel as in setsockopt(2)
 * @param optionName its name there
 * @param optionValue its bytes
 */
public record BinaryOption(long id, long object, int optionLevel, int optionName,
        byte[] optionValue) implements KernelObject {
    /** Bytes of the longest: IPv6 extension headers count 8 bytes each in a byte. */
    static final int MOST = 2048;
}
