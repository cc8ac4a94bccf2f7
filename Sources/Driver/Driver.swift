// The room Driver.
