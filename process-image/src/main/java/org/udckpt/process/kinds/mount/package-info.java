/** Mount namespaces that the job has made. */
package org.udckpt.process.kinds.mount;
