/** Shared memory and mapped files. */
package org.udckpt.process.kinds.memory;
