/** Raw sockets, and ping sockets. */
package org.udckpt.process.kinds.raw;
