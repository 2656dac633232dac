/** The command line: one class for each verb, their options, and what they print. */
package org.udckpt.cli;
