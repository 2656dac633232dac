/** TCP sockets. */
package org.udckpt.process.kinds.tcp;
