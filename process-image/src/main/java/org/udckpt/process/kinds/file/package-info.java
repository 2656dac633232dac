/** Regular files that are open. */
package org.udckpt.process.kinds.file;
