// The room Supervisor.
