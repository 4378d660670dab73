"""Everything of ours whose frame stands on the script's stack.

torch warns with `stacklevel=2`, which names the caller of the warning function.  A frame of ours between the script and
torch would be named instead, and a warning shown once a place would be shown at another.  CPython passes over frames whose
file name contains both "importlib" and "_bootstrap": hence the name of this folder.
"""
