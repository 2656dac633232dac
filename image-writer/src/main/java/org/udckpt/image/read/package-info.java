/** Reading a checkpoint: its tables and its memory, each checked against the manifest before it is used. */
package org.udckpt.image.read;
