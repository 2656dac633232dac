/** Whom open files signal. */
package org.udckpt.process.kinds.signal;
