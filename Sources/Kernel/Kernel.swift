// The room Kernel.
