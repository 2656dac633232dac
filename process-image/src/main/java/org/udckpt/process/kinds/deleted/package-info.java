/** Directories that have lost their names, and that descriptors and processes are still in. */
package org.udckpt.process.kinds.deleted;
