/** Copies of checkpoints from a fast tier to a slow one, and which checkpoints stay in each. */
package org.udckpt.store.tiers;
