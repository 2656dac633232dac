/** The PMI-1 server by which ranks of MPICH and its relatives find each other. */
package org.udckpt.launch.pmi;
