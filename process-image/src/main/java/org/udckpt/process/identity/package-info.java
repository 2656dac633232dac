/** How files of which an image holds no content are known again: programs, libraries, mapped and read data. */
package org.udckpt.process.identity;
