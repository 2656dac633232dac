/** Run by the build to make the archive of loaded classes, with which commands start faster. */
package org.udckpt.cli.classarchive;
