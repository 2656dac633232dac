/** Linux system calls that the JDK has no class for, and files and directories by descriptor. Knows no other package of udckpt. */
package org.udckpt.linux;
