// The program Benchmarks.
