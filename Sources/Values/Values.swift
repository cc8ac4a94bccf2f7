// The room Values.
