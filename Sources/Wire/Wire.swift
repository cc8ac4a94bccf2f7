// The room Wire.
