/** Huge pages of captured and restored processes. */
package org.udckpt.process.huge;
