// The room UnixSocket.
