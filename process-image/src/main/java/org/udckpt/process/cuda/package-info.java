/** NVIDIA's driver, which suspends and resumes the CUDA state of processes, and the rows that images have about it. */
package org.udckpt.process.cuda;
