/** System V semaphores and message queues (sysvipc(7)). */
package org.udckpt.process.kinds.ipc;
