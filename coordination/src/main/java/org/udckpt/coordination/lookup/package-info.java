/**
 * Who is where, learnt through the tree (docs/internals/coordination.md): each node says up what its ranks are, asks
 * for what its ranks need, and only that comes down. Interior nodes keep what is below them and what went through them.
 * Knows the tree and address-map.
 */
package org.udckpt.coordination.lookup;
