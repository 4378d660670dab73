"""What a thread waits for, told from its state and the kernel function that it sleeps in."""

from __future__ import annotations

RUN, DISK, NETWORK, LOCK, SLEEP, UNNAMED, STOPPED = "run", "disk", "network", "lock", "sleep", "unnamed", "stopped"

# Beginnings of kernel function names.  Network file systems wait killably, which shows as state D like a disk: only the
# function tells them apart.
_NETWORK = (
    "nfs", "rpc_", "fuse_", "request_wait_answer", "cifs_", "smb2_", "wait_for_response", "ceph_", "ptlrpc_", "cl_sync_io",
    "ll_", "p9_", "afs_", "tcp_", "udp_", "sk_wait", "sk_stream", "inet_", "__skb_wait", "skb_wait",
)  # fmt: skip
_LOCKS = ("rwsem_", "mutex_", "__mutex", "down_", "__down", "percpu_rwsem", "futex_")


def kind_of_wait(state: str, function: str) -> str:
    """Name the wait of a thread in `state` that sleeps in kernel `function` ("" or "0" where the kernel hides it).

    "sleep" is every other interruptible wait: a timer, a pipe, poll(); "unnamed" the same with the function hidden, so
    that a network wait cannot be excluded.
    """
    if state == "R":
        return RUN
    if state in "TtZX":
        return STOPPED
    if function.startswith(_NETWORK):
        return NETWORK
    if state == "D":
        return LOCK if function.startswith(_LOCKS) else DISK
    if function in ("", "0"):
        return UNNAMED
    return LOCK if function.startswith(_LOCKS) else SLEEP
