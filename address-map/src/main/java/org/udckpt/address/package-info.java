/**
 * Virtual and real addresses of queue pairs: the translation table that ranks read in shared memory, the authority
 * that fills it, and its Arrow form.
 */
package org.udckpt.address;
