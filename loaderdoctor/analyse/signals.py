"""What causes, predictions and reports may read of a run: values with intervals, or the reason why not.

Shares are 0..1, times are seconds, sizes are bytes.  "After warm-up" is the time from the end of warm-up to the end of
the last step; every `*_share` of a loader is a share of that time unless its name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaderdoctor.values import Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    samples: Value = NOT_RECORDED  # of a batch
    message_bytes: Value = (
        NOT_RECORDED  # of a batch's message between processes, what lies in shared memory not counted
    )
    calls_per_sample: Value = NOT_RECORDED  # of what a stream's __iter__ calls most


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


WARM_UP = "warm-up"  # the reason of steps that are left out since they come before all that counts


@dataclass(frozen=True)
class StepSignals:
    """Steady steps of the main training loader.  The four shares sum to 1."""

    count: int
    excluded: Mapping[str, int]  # reason -> steps left out
    median_s: Value
    samples_per_s: Value
    data_wait_share: Value
    h2d_share: Value
    compute_share: Value
    other_share: Value
    series: tuple[tuple[float, float, float], ...] = ()  # (wait_s, copy_s, compute_s) a step in order, for the chart

    @property
    def after_warm_up(self) -> int:
        """The steady steps, and those that are left out for another reason than warm-up."""
        return self.count + sum(count for reason, count in self.excluded.items() if reason != WARM_UP)


@dataclass(frozen=True)
class Phase:
    """A part of the run: start-up|first-batch|train|epoch-gap|eval|checkpoint|other."""

    name: str
    seconds: float
    share: float
    data_wait_s: float


@dataclass(frozen=True)
class DeviceSignals:
    """What the device clock and the copies say; each missing on a CPU."""

    kind: str  # cpu, cuda, xpu, mps, ...
    clock: str  # device|host
    hidden_wait_share: Value  # waits on the host's clock that the device did not notice
    copy_share: Value  # exposed host-to-device copies, of the time after warm-up
    copy_bytes_per_step: Value
    pinned_share: Value  # of the bytes copied
    blocking_share: Value  # of the copies
    copy_bandwidth: Value  # bytes per second
    drained_share: Value  # of the requests that found the device's queue empty
    sync_share: Value  # of the time after warm-up that the host spends waiting for the device in .item() and the like
    syncs_per_step: Value
    pin_busy_share: Value  # of the pin thread
    host_allocations_per_step: Value


@dataclass(frozen=True)
class MachineSignals:
    """The machine as this job may use it."""

    cpus_present: Value
    cpus_allowed: Value  # after affinity and quota; may be fractional
    cpu_busy_share: Value  # of the allowed CPUs, by this job
    neighbour_cpu_share: Value  # of the machine's CPUs, by others
    throttled_share: Value
    memory_limit_bytes: Value
    memory_available_bytes: Value
    shm_free_bytes: Value
    facts: Mapping[str, Any] = field(default_factory=dict)  # for the environment table
    neighbour_allowed_cpu_share: Value = NOT_SAMPLED  # as neighbour_cpu_share, of the CPUs that the job is bound to
    stolen_cpu_share: Value = NOT_SAMPLED  # of the machine's CPUs, taken by other guests of its host
    cpu_pressure_share: Value = NOT_SAMPLED  # of the time, in which some task of the machine waited for a CPU,
    io_pressure_share: Value = NOT_SAMPLED  # for a disk,
    memory_pressure_share: Value = NOT_SAMPLED  # for memory
    swapped_bytes_per_s: Value = NOT_SAMPLED  # in and out
    file_refaults_per_s: Value = (
        NOT_SAMPLED  # pages of files read again soon after they were dropped for want of memory
    )


@dataclass(frozen=True)
class DiskSignals:
    """Where the script's data files lie, and what the disk below them did.

    The mount is the one on which most data files were seen in use.  `cache_hit_share` is about the processes that make
    batches: the share of what they read that no disk had to deliver; what they read through mappings is not in it.
    """

    file_system: str | None  # ext4, nfs4, ...
    kind: str  # local|network|fuse|overlay|tmpfs|unknown
    device: str | None  # the whole disk, as /proc/diskstats names it; None: hidden, or none here
    seen_share: Value  # of the sightings of data files, those on this mount
    read_bytes_per_s: Value  # of the device
    reads_per_s: Value
    busy_share: Value  # of the time in which the device had work
    await_s: Value  # per read, its time in the queue included
    queue_length: Value  # mean number of requests in flight
    job_read_bytes_per_s: Value  # by the processes that make batches, from disk
    job_read_chars_per_s: Value  # the same, from disk or page cache
    cache_hit_share: Value


ONE_RANK = Missing("one-rank", "One process trains.")
NO_EXCHANGE = Missing(
    "no-collectives",
    "The time in which ranks exchange gradients is not recorded; one rank alone, or steps under no_sync(), would tell it.",
)


@dataclass(frozen=True)
class JobSignals:
    """The ranks of a job beside each other.  Shares are of the time after warm-up."""

    processes: Value = ONE_RANK  # training processes that were started
    loading: Value = ONE_RANK  # of those, the ones that take batches
    last_wait_share: Value = ONE_RANK  # own waiting of the rank that the others wait for most
    others_wait_share: Value = ONE_RANK  # the largest own waiting of any other rank
    held_share: Value = ONE_RANK  # what another rank waits on the mean for the last one of a step
    last_part: Value = ONE_RANK  # of that, in steps in which that rank was the last
    last_rank: int | None = None
    compute_spread: Value = ONE_RANK  # CPU time of computing, the busiest rank's over the least busy one's
    exchange_share: Value = NO_EXCHANGE  # of a step, in collectives


@dataclass(frozen=True)
class TrainingSignals:
    """What the training itself takes of the machine, beside its loaders."""

    cores: Value = NOT_SAMPLED  # busy while it computes, with all threads of its process
    run_queue_share: Value = NOT_SAMPLED  # of its time, in which its main thread wanted a core and had none
    slow_share: Value = (
        NOT_RECORDED  # of all steps' time, computing beyond the median, in steps of many times the median
    )
    slow_early_share: Value = NOT_RECORDED  # of that, in the first third of the steps


@dataclass(frozen=True)
class Signals:
    """Everything derived from one run."""

    clock: str  # device|host
    starved_share: Value
    measured_s: float  # length of the time after warm-up
    warm_up_steps: int
    steps: StepSignals
    phases: tuple[Phase, ...]
    loaders: tuple[LoaderSignals, ...]  # the main training loader first
    device: DeviceSignals
    machine: MachineSignals
    ranks: int
    rank_shares: tuple[float, ...]  # starved share of each rank on its own
    overhead_share: Value
    lost_records: int
    notes: tuple[tuple[str, str], ...]  # (slug, text)
    disk: DiskSignals | None = None
    lost_share: float = 0.0  # of the records that there were to write
    job: JobSignals = field(default_factory=JobSignals)
    training: TrainingSignals = field(default_factory=TrainingSignals)

    @property
    def main(self) -> LoaderSignals | None:
        """The main training loader: the one whose steps take the most time."""
        return self.loaders[0] if self.loaders else None
