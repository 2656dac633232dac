/** Restore of processes from an image: address spaces, kernel objects, threads, and the order of all. */
package org.udckpt.process.restore;
