// The device Terminal.
