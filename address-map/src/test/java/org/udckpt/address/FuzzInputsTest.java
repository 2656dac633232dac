package org.udckpt.address;

import org.udckpt.fuzz.FuzzInputs;

/** Of this module. */
class FuzzInputsTest extends FuzzInputs {}
