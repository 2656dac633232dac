/** Unix sockets. */
package org.udckpt.process.kinds.unix;
