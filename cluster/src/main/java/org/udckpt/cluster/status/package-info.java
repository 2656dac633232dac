/**
 * What a job on several hosts has where, told for {@code udckpt status}: the lead asks ({@link RankStatus}), and each
 * unit's agent answers with two tables of its own ranks and their endpoints, as Arrow record batches
 * (docs/reference/transport.md, "Messages of the tree").
 */
package org.udckpt.cluster.status;
