/**
 * All that images do to a file system, so that tests can make each call fail; and how little of it the writer takes
 * from the job.
 */
package org.udckpt.image.storage;
