/**
 * A job's nodes as processes on several hosts (docs/user/several-hosts.md): the lead, which is {@code udckpt run}
 * itself, starts an agent for each unit of ranks, they find each other, and each drives its part of the protocol in a
 * thread of its own.
 */
package org.udckpt.cluster;
