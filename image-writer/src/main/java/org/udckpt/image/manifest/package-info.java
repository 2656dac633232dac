/** The file that makes a checkpoint exist: its text, its seal, and reading it back with nothing taken on trust. */
package org.udckpt.image.manifest;
