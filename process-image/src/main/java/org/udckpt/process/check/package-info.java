/**
 * Whether an image's tables can be true: who restores a job, or looks into its checkpoint, takes rows by their ids,
 * lengths and counts, and these are looked at once, before.
 */
package org.udckpt.process.check;
