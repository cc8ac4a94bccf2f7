// The program Shell.
