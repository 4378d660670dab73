"""Is killed as the kernel kills what takes too much memory."""

import os
import signal

import tiny

print(tiny.train(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
