"""Has a child that trains too, by a bare fork."""

import os
import sys

import tiny

child = os.fork()
seen = tiny.train()
if child == 0:
    os._exit(5)
print(seen, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
sys.exit(3)
