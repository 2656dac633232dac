/** Pseudo-terminals. */
package org.udckpt.process.kinds.terminal;
