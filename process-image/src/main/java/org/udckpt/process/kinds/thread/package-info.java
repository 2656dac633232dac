/** What threads have of their own that is of the process else. */
package org.udckpt.process.kinds.thread;
