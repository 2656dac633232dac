/** The user's keys: what seals a manifest, what encrypts a checkpoint, and where they come from. */
package org.udckpt.image.key;
