/** Restore of memory while the processes run already (userfaultfd). */
package org.udckpt.process.restore.lazy;
