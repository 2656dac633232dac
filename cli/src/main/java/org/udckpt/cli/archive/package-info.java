/** What the build runs to make the archive of loaded classes, with which commands start faster. */
package org.udckpt.cli.archive;
