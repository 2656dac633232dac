/**
 * Names that a restart makes again (shared memory, FIFOs, unix sockets), and whose what stands there already is
 * (docs/user/files.md).
 */
package org.udckpt.process.names;
