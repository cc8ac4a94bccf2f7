// The device Circuit.
