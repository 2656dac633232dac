/** Locks on files. */
package org.udckpt.process.kinds.lock;
