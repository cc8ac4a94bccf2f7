// The device Compute.
