"""Says what arguments it got, then changes them."""

import json
import sys

import tiny

print(json.dumps(sys.argv[1:]))
sys.argv = ["another-name", "--steps", "3"]
print(tiny.train())
