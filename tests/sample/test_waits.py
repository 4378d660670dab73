"""What a state and a kernel function say that a thread waits for."""

import pytest

from loaderdoctor.sample.waits import kind_of_wait

TABLE = """
R  0                        run
D  folio_wait_bit_common    disk
D  io_schedule              disk
D  __blockdev_direct_IO     disk
D  0                        disk
D  nfs_wait_bit_killable    network
D  rpc_wait_bit_killable    network
D  request_wait_answer      network
S  fuse_dev_do_read         network
S  tcp_recvmsg              network
S  sk_wait_data             network
D  rwsem_down_read_slowpath lock
S  futex_wait_queue         lock
S  hrtimer_nanosleep        sleep
S  pipe_read                sleep
S  do_poll                  sleep
S  0                        unnamed
T  do_signal_stop           stopped
Z  0                        stopped
"""


@pytest.mark.parametrize("row", TABLE.split("\n")[1:-1])
def test_kind_of_wait(row):
    state, function, kind = row.split()
    assert kind_of_wait(state, function) == kind
