package org.udckpt.job;

import org.udckpt.fuzz.FuzzInputs;

/** Of this module. */
class FuzzInputsTest extends FuzzInputs {}
