/** Messages, errors with their exit codes, and how numbers are shown. */
package org.udckpt.support.report;
