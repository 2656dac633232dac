/**
 * Addresses of ranks, looked up through the tree (docs/internals/coordination.md). Each node sends up the entries of
 * its ranks and asks for the entries that its ranks need; only these come down. Interior nodes keep the entries below
 * them and those that went through them. Depends on the tree and address-map.
 */
package org.udckpt.coordination.lookup;
