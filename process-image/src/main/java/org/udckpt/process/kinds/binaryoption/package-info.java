/** Options of sockets whose values are more than a number. */
package org.udckpt.process.kinds.binaryoption;
