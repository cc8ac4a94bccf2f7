#define _GNU_SOURCE
#include "probe.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

int clx_landlock_abi(void) {
    // 1 is LANDLOCK_CREATE_RULESET_VERSION, which older headers lack.
    long abi = syscall(SYS_landlock_create_ruleset, 0, 0, 1);
    return abi < 0 ? -errno : (int)abi;
}

int clx_has_seccomp(void) {
    unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int clx_socket_path_room(void) {
    return (int)sizeof ((struct sockaddr_un *)0)->sun_path - 1;
}
