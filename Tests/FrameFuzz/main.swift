// The program FrameFuzz.
