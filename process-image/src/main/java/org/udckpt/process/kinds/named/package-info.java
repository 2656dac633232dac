/** What is opened again by its name and has no content in the image. */
package org.udckpt.process.kinds.named;
