/** The directory that checkpoints are in: numbers that are given out once, who is writing, how one goes away. */
package org.udckpt.image.directory;
