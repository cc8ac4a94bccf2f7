// The program Host.
