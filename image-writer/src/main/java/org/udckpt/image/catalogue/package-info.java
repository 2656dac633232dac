/** All checkpoints of a job: listing, pruning, and the slow tier that they are copied to. */
package org.udckpt.image.catalogue;
