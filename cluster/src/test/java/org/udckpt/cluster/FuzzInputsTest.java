package org.udckpt.cluster;

import org.udckpt.fuzz.FuzzInputs;

/** Of this module. */
class FuzzInputsTest extends FuzzInputs {}
