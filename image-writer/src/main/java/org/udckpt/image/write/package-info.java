/** Writing a checkpoint: from a process's pages through the pipeline into stripe files, to the commit. */
package org.udckpt.image.write;
