/** The runtime directory of a running job: sockets, shared memory, and the file that says who runs it. */
package org.udckpt.support.runtime;
