"""What may be read of one loader: how its batches are made, delivered and waited for, in the units of signals.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loaderdoctor.values import Missing

if TYPE_CHECKING:
    from loaderdoctor.values import Value


@dataclass(frozen=True)
class Site:
    """Where the source builds a loader; `file` as the interpreter names it."""

    file: str
    line: int


@dataclass(frozen=True)
class LoaderSettings:
    """A DataLoader's arguments as torch keeps them; None: not set, or not known to this version of torch."""

    batch_size: int | None = None
    num_workers: int = 0
    prefetch_factor: int | None = None
    pin_memory: bool = False
    persistent_workers: bool = False
    in_order: bool | None = None
    start_method: str | None = None
    drop_last: bool | None = None
    timeout: float | None = None
    dataset_type: str = ""
    dataset_kind: str = "map"  # map|iterable
    dataset_len: int | None = None
    batched_fetch: bool = False  # the dataset has __getitems__
    collate: str = ""
    sampler: str = ""
    loader_type: str = ""
    caches: str | None = (
        None  # attributes of the dataset that are called so, empty before the first epoch; None: not looked at
    )
    torch_loader: bool = True  # False: DALI, FFCV, grain; only its wait is known, and its arguments are not torch's


@dataclass(frozen=True)
class Stage:
    """A part of making one batch: sample|read|decode|transform|collate|send|receive|pin."""

    name: str
    seconds_per_batch: Value
    cpu_share: Value
    where: str  # worker|main|pin-thread


@dataclass(frozen=True)
class HotFunction:
    """A function in which batches are made; share of the loader's CPU time spent there itself."""

    function: str
    file: str
    line: int
    share: Value


NOT_SAMPLED = Missing("not-sampled", "The run was not sampled from outside.")
NOT_RECORDED = Missing("not-recorded", "The run has no record of it for this loader.")


@dataclass(frozen=True)
class WorkerSignals:
    """One worker process over its life.  The shares of its wall time after warm-up."""

    index: int
    pid: int
    batches: int
    busy_share: Value
    cpu_share: Value
    disk_wait_share: Value
    network_wait_share: Value  # blocked without disk input: network, sleep or lock
    run_queue_share: Value
    start_s: Value
    rss_bytes: Value
    private_growth_bytes: Value = NOT_SAMPLED  # memory that it came to share with nobody, over the run
    threads: Value = NOT_SAMPLED


@dataclass(frozen=True)
class BatchWork:
    """What the making of one batch took, wherever it was made; input of the simulator.  Seconds.

    cpu + disk + blocked + run_queue is the wall time of fetch and collate.
    """

    cpu_s: float
    disk_s: float
    blocked_s: float  # waits that another worker would overlap: network, sleep, lock
    run_queue_s: float  # waits for a core
    send_s: float  # pickling and writing, in the worker
    receive_s: float  # reading and unpickling, in the main process
    epoch: int
    ordinal: int  # order of delivery within the epoch
    worker: int = -1  # that made it; -1: the main process, or not known
    choose_s: float = 0.0  # choosing its indices, in the main process, with workers or without
    receive_wait_s: float = 0.0  # of receive_s, what the main process waited for the worker, which held its interpreter


@dataclass(frozen=True)
class Workload:
    """A loader as recorded, ready to be replayed under other settings (predict)."""

    loader: str
    settings: LoaderSettings
    batches: tuple[BatchWork, ...]
    compute_s: tuple[float, ...]  # consumer's time from getting batch k to asking for the next, aligned with `batches`
    waits_s: tuple[float, ...]  # exposed wait for batch k as measured, aligned with `batches`
    epoch_overhead_s: tuple[
        float, ...
    ]  # a value an epoch: gap from iter() to the first batch beyond the batch's own work
    worker_start_s: float  # from the start of a worker to its first index
    cores: float  # usable by the whole job
    compute_cpu_share: float  # share of `compute_s` in which the consumer holds a core
    measured_from: int = 0  # index of the first batch after warm-up
    copy_s: float = 0.0  # exposed host-to-device copy per step (device clock)
    copy_pinned_s: float | None = None  # the same if batches were pinned, where it can be said
    batch_bytes: int | None = None
    worker_rss_bytes: int | None = None  # private memory of one worker
    # On the device clock, aligned with `batches`: the device's compute span of step k without waits and copies, and what
    # the host itself does in the step, without waiting for the device.  Empty where the consumer and the device are one.
    device_s: tuple[float, ...] = ()
    host_s: tuple[float, ...] = ()
    run_ahead_steps: int | None = None  # steps the host may be ahead of the device; 0: it waits after each, None: free
    neighbour_cores: float = 0.0  # of `cores`, what other jobs kept busy; predict fills it in
    restart_s: float = 0.0  # of a gap: ending the old workers and starting new ones, as measured
    rebuilt: bool = False  # each epoch has a loader of its own, so that no setting keeps its workers
    streams: int | None = None  # workers that a stream has anything for, where that is fewer than there are
    queued_share: float | None = None  # of `compute_s`, waiting for a core; None: not measured
    used_cores: float = 0.0  # that making and using kept busy on the mean; 0: not known
    cold: float | None = 0.0  # share by which a step takes longer after a long wait; None: the run does not show it
    lifted: tuple[str, ...] = ()  # limits that a change takes away (predict.change); none of a recorded one


@dataclass(frozen=True)
class MakingSignals:
    """How batches are made, beyond their mean times.  Bytes and times are of a batch."""

    loaders_built: int = 1  # DataLoader objects at this place: more than one where it is built anew
    first_made_s: Value = NOT_RECORDED  # an epoch's first batch, wall, where it is made
    spread: Value = NOT_RECORDED  # mean deviation of the making time, in times its mean
    read_bytes: Value = NOT_RECORDED  # read by calls that are counted, from a disk or from memory
    disk_bytes: Value = NOT_RECORDED  # of which a disk delivered
    worker_cpus: Value = NOT_RECORDED  # that a worker may run on
    worker_torch_threads: Value = NOT_RECORDED  # of torch's own pool in a worker
    worker_threads: Value = NOT_RECORDED  # of a worker's process
    worker_cores: Value = NOT_RECORDED  # busy with all threads of a worker, of its whole time
    worker_start_s: Value = NOT_RECORDED  # from the start of an epoch's workers until one asks for work
    samples_per_epoch: Value = NOT_RECORDED
    worker_other_threads_share: Value = NOT_SAMPLED  # of a worker's CPU time, that of threads beside its main one
    collected_share: Value = NOT_RECORDED  # full collections of garbage, of the CPU time of making a batch
    later_epochs: Value = NOT_RECORDED  # CPU time of making a batch after the first epoch, in times of that in it
    samples: Value = NOT_RECORDED  # of a batch
    message_bytes: Value = (
        NOT_RECORDED  # of a batch's message between processes, what lies in shared memory not counted
    )
    calls_per_sample: Value = NOT_RECORDED  # of what a stream's __iter__ calls most


@dataclass(frozen=True)
class ReadSignals:
    """Where the script's own code opens, reads and waits; shares of the time that a batch takes to make."""

    opening_share: Value = NOT_RECORDED  # in building readers that are the same for every sample
    opening_site: Site | None = None  # where most of that is called,
    opening_call: str = ""  # and what, as it is written there
    reading_share: Value = NOT_RECORDED  # at lines that read files, what they decode aside
    reading_site: Site | None = None
    waiting_site: Site | None = None  # the line at which samples wait longest
    asked_bytes: Value = NOT_RECORDED  # of a batch, by calls that are counted; a disk may deliver whole pages for them


@dataclass(frozen=True)
class PassSignals:
    """How the first pass over the data differs from those after it."""

    first_made_s: Value = NOT_RECORDED  # to make a batch
    later_made_s: Value = NOT_RECORDED
    first_from_disk: Value = NOT_RECORDED  # share of what is read
    later_from_disk: Value = NOT_RECORDED
    first_wait_share: Value = NOT_RECORDED  # of all waiting for this loader


@dataclass(frozen=True)
class HotPlace:
    """Where the script's own code does one kind of work (analyse.known_work), or calls a library to do it."""

    kind: str
    function: str
    site: Site
    calls: str  # what of a library it calls most; empty where the work is its own
    share: Value  # of the CPU time of making batches


@dataclass(frozen=True)
class CodeSignals:
    """What kind of code makes batches.  Shares are of the CPU time of making a batch; pixels are of a profiled batch."""

    decode_share: Value = NOT_RECORDED
    resize_share: Value = NOT_RECORDED
    transform_share: Value = NOT_RECORDED  # of known transforms, resizing aside
    tokenize_share: Value = NOT_RECORDED
    audio_share: Value = NOT_RECORDED
    video_share: Value = NOT_RECORDED
    python_share: Value = NOT_RECORDED  # interpreted code that is nothing of the above
    array_share: Value = NOT_RECORDED  # operations on arrays in the script's own code
    oversize: Value = NOT_RECORDED  # pixels decoded, in times of those that are left after the image was shrunk
    places: tuple[HotPlace, ...] = ()

    def place(self, *kinds: str) -> HotPlace | None:
        """The hottest place of these kinds; of any where none is named."""
        return next((place for place in self.places if place.kind in kinds or not kinds), None)


@dataclass(frozen=True)
class OrderSignals:
    """What the order of batches and the beginnings of epochs cost.  A gap is from the end of an epoch to the next one's first batch.

    The `gap_*` are shares of all gaps after warm-up.
    """

    rebuilt: bool = False  # most epochs have a loader object of their own
    restart_s: float = 0.0  # a gap's, on the mean: ending the old workers and starting new ones until one makes a batch
    gap_start_share: Value = NOT_RECORDED  # ending the old workers and starting new ones
    gap_choose_share: Value = NOT_RECORDED  # choosing the first indices
    gap_usual_share: Value = NOT_RECORDED  # making the first batch, as long as any other one takes
    gap_extra_share: Value = NOT_RECORDED  # what making the first batch takes longer than that
    before_first_share: Value = NOT_RECORDED  # of making first batches: the first sample of them
    paid_back_share: Value = NOT_RECORDED  # of that extra, what later batches of the same pass take less
    listing_share: Value = NOT_RECORDED  # of the CPU time of making batches: code that lists or looks at files first
    listing_site: Site | None = None
    held_share: Value = NOT_RECORDED  # of the time: waits within epochs that ended with later batches lying finished
    held_of_waits: Value = NOT_RECORDED  # the same, of the waits within epochs
    supply: Value = NOT_RECORDED  # batches that the workers with work could make, over those used meanwhile
    idle_at_end_share: Value = NOT_RECORDED  # of a stream's workers' time: after their part of the stream has ended
    waits_at_end_share: Value = NOT_RECORDED  # of the waits within epochs: while some worker's part had ended
    streams: int | None = None  # workers that had anything to yield, where some had not
    sampler_share: Value = NOT_RECORDED  # of the time: choosing indices, within next() and before epochs
    sampler_of_wait: Value = NOT_RECORDED  # of the waits
    repeated_share: Value = NOT_RECORDED  # of a pass's first batches: those that another worker made as well


@dataclass(frozen=True)
class LoaderSignals:
    """One loader: every DataLoader built at one place with one set of settings."""

    id: str
    role: str  # train|eval
    site: Site | None
    settings: LoaderSettings
    batches: int
    epochs: int
    wait_s: Value  # host clock, all next() calls and iterator builds after warm-up
    exposed_wait_s: Value  # device clock where there is one
    exposed_wait_share: Value
    first_batch_gap_s: Value  # per epoch: from building the iterator to its first batch, warm-up excluded
    epoch_gap_share: Value  # share of the time after warm-up spent in those gaps
    ready_median: Value
    ready_empty_share: Value  # share of requests that found no batch ready
    step_s: Value  # median, next() to next(), of its steady steps
    compute_s: Value  # median of the part of the step outside next()
    fetch_s: Value  # per batch: fetch and collate, wall
    fetch_cpu_share: Value  # shares of that
    fetch_disk_share: Value
    fetch_blocked_share: Value
    fetch_run_queue_share: Value
    collate_s: Value
    slowest_sample_s: Value
    sample_s: Value  # mean time of one sample
    send_s: Value
    receive_s: Value
    sampler_s: Value
    batch_bytes: Value
    tensors_per_batch: Value
    head_of_line_share: Value  # share of the waits that ended with finished later batches parked
    worker_busy_share: Value  # mean over workers; 1 - time on the index queue
    workers: tuple[WorkerSignals, ...]
    stages: tuple[Stage, ...]
    hot_functions: tuple[HotFunction, ...]
    workload: Workload | None
    making: MakingSignals = field(default_factory=MakingSignals)
    reads: ReadSignals = field(default_factory=ReadSignals)
    passes: PassSignals = field(default_factory=PassSignals)
    code: CodeSignals = field(default_factory=CodeSignals)
    order: OrderSignals = field(default_factory=OrderSignals)
