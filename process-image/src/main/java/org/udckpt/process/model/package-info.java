/** What an image says of processes and kernel objects: records that capture fills and restore reads. */
package org.udckpt.process.model;
