"""Takes batches before and after it joins others, as the arguments say: `take` and `join` in any order, `fork` goes on in a child."""

import os
import sys
import tempfile

import torch.distributed as dist
from torch.utils.data import DataLoader

for word in sys.argv[1:]:
    if word == "take":
        list(DataLoader(range(4)))
    elif word == "join":
        meeting = tempfile.mkdtemp() + "/meeting"
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=0, world_size=1)
    elif word == "fork":
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            break
