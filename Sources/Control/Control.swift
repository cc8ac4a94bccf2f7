// The room Control.
