package org.udckpt.ud;

import org.udckpt.fuzz.FuzzInputs;

/** Of this module. */
class FuzzInputsTest extends FuzzInputs {}
