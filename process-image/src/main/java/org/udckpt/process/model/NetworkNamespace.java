package org.udckpt.process.model;

/**
 * A network namespace that the job has made (network_namespaces(7)), with no device but those that each has.
 *
 * @param userOwner the user namespace that owns it; 0: the one in which the job was started
 * @param deviceFlags of its loopback device, as rtnetlink(7) has them (IFF_UP)
 * @param mtu of its loopback device, in bytes
 * @param sysctls those that are not as in a new namespace, each a line: its path below /proc/sys, '=', its value
 * @param addresses of its loopback device: rtnetlink(7)'s messages of them (struct ifaddrmsg and attributes), before
 *     each its length in bytes (32 bits, least first)
 */
public record NetworkNamespace(long id, long userOwner, int deviceFlags, int mtu, String sysctls, byte[] addresses)
        implements
            KernelObject {}
