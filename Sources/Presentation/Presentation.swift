// The room Presentation.
