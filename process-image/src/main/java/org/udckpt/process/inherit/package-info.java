/**
 * Which memory the processes of a tree get from the one that forks them, so that what they have in common is in memory
 * once after a restart. Pure: nothing here makes a system call.
 */
package org.udckpt.process.inherit;
