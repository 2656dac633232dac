/**
 * Linux system calls that the JDK has no class for, files and directories by descriptor, and unix connections whose
 * other end is known. Knows no other package of udckpt.
 */
package org.udckpt.linux;
