"""The fixed-size records of one process: what the probe writes and the reader reads.

A record file is a row of 128-byte little-endian records.  Each is 16 signed 64-bit integers: the kind, then the kind's
fields in the order of `KINDS`, unused ones 0.  The first record is a `header`.  A text record carries 88 bytes of UTF-8
in place of the last eleven integers.  Times are nanoseconds of `time.perf_counter_ns` (one clock for all processes of
a Linux machine), durations are nanoseconds, -1 stands for "not known".

A file may hold several processes: each chunk of one begins with its header, and a record of kind 0 is room that was not used.

Schema versions:
1  first version: a file a process, without chunks
2  chunks; fields added at the end of a record are 0 in files from before
"""

from __future__ import annotations

import struct

SCHEMA = 2
MAGIC = int.from_bytes(b"LDRECORD", "little")
RECORD = struct.Struct("<16q")
TEXT_RECORD = struct.Struct("<5q88s")
TEXT_BYTES = 88
RECORD_BYTES = RECORD.size
UNKNOWN = -1

ROLE_MAIN, ROLE_WORKER = 0, 1
NEXT_BATCH, NEXT_END, NEXT_ERROR = 0, 1, 2  # next.status
# iterator.how: a new iterator, or a persistent one starting over; or, in a reader, one whose start is not in detail
BUILT, RESET, CONTINUED = 0, 1, 2
STARTS = ("fork", "spawn", "forkserver")  # worker_started.start_method is an index into this
METHOD_EVENTS, METHOD_WITNESS, METHOD_GAP = 1, 2, 3  # device_step.method

UNUSED, HEADER, TEXT = 0, 1, 2

# kind number -> (name, fields, separated by spaces).  Only append: a run of an older version stays readable.
_FIELDS: dict[int, tuple[str, str]] = {
    HEADER: (
        "header",
        # local_world_size: how many ranks of the job this host has; 0 in files from before the field
        "magic schema record_bytes role pid ppid opened_ns unix_ns rank local_rank world_size iterator worker "
        "local_world_size",
    ),
    TEXT: ("text", "text part parts length"),
    # --- any process
    # about: JSON object of torch, python, ... (probe/about.py)
    3: ("process", "at_ns about_text"),
    4: ("note", "at_ns slug_text sentence_text"),
    # why: 0 interpreter exit, 1 --steps reached, 2 --seconds reached
    5: ("end", "at_ns why"),
    # records that could not be written so far, and the system's error number; one a process, written over
    6: ("lost", "records errno at_ns"),
    # as torch.distributed says it; the last one counts, before the environment's.  -1: it was not in use by then
    7: ("rank", "rank world_size local_rank at_ns"),
    # --- main process
    # site: "file:line"; settings: JSON object
    10: ("loader", "loader built_ns site_text settings_text"),
    # grad_enabled tells evaluation loops; sampler_ns: index generation while priming, the sampler's
    # own __iter__ included
    11: ("iterator", "iterator loader how begin_ns end_ns thread sampler_ns epoch grad_enabled"),
    12: ("worker_started", "iterator worker pid begin_ns end_ns start_method"),
    # depth: loaders whose next() this call is inside of.  sampler_ns: index generation inside the call.
    # main_cpu_ns: thread CPU time inside it.  ready: batches ready at entry.  stash: arrived out of order
    13: (
        "next",
        "iterator ordinal begin_ns end_ns status batch worker ready stash outstanding thread depth "
        "grad_enabled sampler_ns main_cpu_ns",
    ),
    # a message taken from the queue: begin..received is waiting, received..end is unpickling.  wanted: the batch that
    # next() must return.  pinned: it came through the pin thread
    14: ("arrival", "iterator batch worker begin_ns received_ns end_ns wanted pinned message_bytes"),
    15: ("shutdown", "iterator begin_ns end_ns"),
    # CPU time of its thread so far, at its end, and when the thread last asked for a batch (0: not in the file, or never)
    16: ("optimizer_step", "optimizer end_ns thread cpu_ns asked_cpu_ns"),
    17: ("pin", "iterator batch begin_ns end_ns cpu_ns tensors bytes queue_before queue_after"),
    # of some steps: from the end of next() until the loop has the batch and has given back the one before
    18: ("handed_over", "iterator ordinal begin_ns end_ns"),
    # at the request for a batch, of the whole process so far: blocks written, and full collections of Python's garbage
    # collector.  The first request of a process, and each before which either has grown
    19: ("since_start", "iterator ordinal at_ns blocks_out full_collections"),
    # --- wherever batches are made: workers, or the main process when num_workers is 0
    # items_ns: all samples.  slowest_*: the slowest one (-1 where only the whole is known: under __getitems__, or where the
    # dataset makes the batches; then samples is -1 too)
    20: (
        "fetch",
        "iterator batch worker begin_ns end_ns samples items_ns slowest_ns slowest_position collate_ns cpu_ns batched",
    ),
    # how the thread spent the time from got_ns to put_ns; idle_ns: before that, on the index queue.  collected: full
    # collections of Python's garbage collector meanwhile, plus one; 0 in files that have no such field
    21: (
        "busy",
        "worker batch idle_ns got_ns put_ns cpu_ns run_delay_ns major_faults blocks_in voluntary_switches "
        "involuntary_switches read_bytes read_chars rss_bytes collected",
    ),
    # content: one more than a checksum of it, of a pass's first batches (0: of a run that is older than the field)
    22: ("send", "worker batch begin_ns end_ns pickle_ns pickle_cpu_ns message_bytes tensors payload_bytes content"),
    23: ("worker_ready", "worker pid born_ns ready_ns affinity torch_threads private_bytes"),
    # what one named stage took since its last record: self time, without the stages inside it.  "called:NAME" is none, but
    # how often a stream's own __iter__ calls what it calls most, in the batch that was profiled.  pixels of images that it
    # took and gave, where it is one that tells (0 else, and in files that have no such field)
    24: ("stage", "worker name_text at_ns calls self_ns self_cpu_ns total_ns pixels_in pixels_out"),
    # a batch that was profiled: the stage records of the same at_ns are its, and those that have none took no time in it.
    # interpreted_ns: of its cpu_ns, in Python's own code and in calls too short to be worth one (cpu_ns 0: not in the file)
    27: ("profiled", "worker at_ns batches wall_ns cpu_ns interpreted_ns"),
    # stack: JSON, innermost frame first
    25: ("stack", "worker at_ns stack_text cpu_ns samples blocked_ns"),
    # --- device clock
    # of the next() call `ordinal`: exposed wait D (low, best, high), exposed copies X, step T to the next request.
    # drained: 1 if the queue was empty when next() was called.  every: only each n-th step is measured
    30: (
        "device_step",
        "iterator ordinal device method wait_low_ns wait_ns wait_high_ns copy_ns step_ns drained every sync_ns syncs",
    ),
    # host-to-device copies between next() call `ordinal` and the following one, of measured steps only
    31: (
        "copy",
        "iterator ordinal device copies bytes pinned_copies pinned_bytes blocking_copies converted_copies "
        "host_ns device_ns side_stream",
    ),
    32: ("host_memory", "at_ns allocations allocated_bytes allocation_ns"),
    # what torch's profiler saw the device execute from first_ns, the first wait, to end_ns.  idle: no kernel and no copy
    33: ("trace_window", "begin_ns first_ns end_ns steps operations idle_ns idle_in_next_ns copy_ns"),
    # --- long runs: a stretch without detail begins (loader -1), and what one loader did in it.  Stretches are 2**bits ns
    # of the clock, and one of 2**level has detail.  epochs: those of which no batch is told in detail.
    # window: of a process that records in windows (bits 0), one more than the number of the one that ended here
    34: ("passed", "begin_ns end_ns level bits loader batches epochs wait_ns window"),
    # what the probe itself took of the training process, by its own clock, and of how long; of `weighed` steps, whose squares
    # are summed up too.  One a process, written over
    35: ("own", "of_ns own_ns own_us2 weighed"),
}

# What is recorded in stretches without detail too: what there is once of a process, a loader or an iterator.
ALWAYS = frozenset(("process", "note", "end", "lost", "rank", "loader", "iterator", "worker_started", "passed", "own"))

# Fields that are times of the clock; every other one in ns is a duration.
CLOCK_FIELDS = frozenset(
    ("at_ns", "begin_ns", "end_ns", "received_ns", "got_ns", "put_ns", "born_ns", "ready_ns", "built_ns", "first_ns")
)

KINDS = {kind: (name, tuple(fields.split())) for kind, (name, fields) in _FIELDS.items()}
KIND_OF = {name: kind for kind, (name, _) in KINDS.items()}
