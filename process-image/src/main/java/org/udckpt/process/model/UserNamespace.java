package org.udckpt.process.model;

/**
 * A user namespace that the job has made (user_namespaces(7)). Users and groups are numbered as where the job was
 * started, except where "inside" is said.
 *
 * @param parentNamespace the namespace in which it was made; 0: the one in which the job was started
 * @param maker the user who has made it
 * @param userMap which numbers inside are which users: the first inside, the first outside, and how many; any number of
 *     such triples
 * @param groupMap the same of groups
 * @param groupsDenied whether setgroups(2) is forbidden for good
 */
public record UserNamespace(long id, long parentNamespace, int maker, int[] userMap, int[] groupMap,
        boolean groupsDenied)
        implements
            KernelObject {}
