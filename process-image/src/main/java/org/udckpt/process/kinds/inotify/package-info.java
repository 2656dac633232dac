/** Watches of files. */
package org.udckpt.process.kinds.inotify;
