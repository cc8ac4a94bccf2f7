// What the running system offers, asked without using any of it.
#pragma once

/// The version of Landlock, or -errno where there is none.
int clx_landlock_abi(void);
/// Whether a filter of system calls can be installed: 1, or 0.
int clx_has_seccomp(void);
/// Bytes of a socket's path that fit into an address, its end not counted.
int clx_socket_path_room(void);
