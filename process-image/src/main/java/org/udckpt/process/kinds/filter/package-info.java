/** Programs that sockets filter what they receive by. */
package org.udckpt.process.kinds.filter;
