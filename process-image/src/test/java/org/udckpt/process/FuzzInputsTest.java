package org.udckpt.process;

import org.udckpt.fuzz.FuzzInputs;

/** Of this module. */
class FuzzInputsTest extends FuzzInputs {}
