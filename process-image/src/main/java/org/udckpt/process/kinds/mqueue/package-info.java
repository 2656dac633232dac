/** POSIX message queues (mq_overview(7)). */
package org.udckpt.process.kinds.mqueue;
