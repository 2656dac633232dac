/** What a job keeps in its images: the tables, where checkpoints are and who may use them, and how they are opened. */
package org.udckpt.store;
