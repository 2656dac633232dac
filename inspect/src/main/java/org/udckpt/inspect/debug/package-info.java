/**
 * A restarted job in a debugger: gdb has processes of it from their first instruction on (docs/user/debugging.md).
 * Knows the image's processes, not how they are restored.
 */
package org.udckpt.inspect.debug;
