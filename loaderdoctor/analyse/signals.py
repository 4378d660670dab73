"""What causes, predictions and reports may read of a run: values with intervals, or the reason why not.

Shares are 0..1, times are seconds, sizes are bytes.  "After warm-up" is the time from the end of warm-up to the end of
the last step; every `*_share` of a loader is a share of that time unless its name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from loaderdoctor.analyse.of_loader import (
    NOT_RECORDED,
    NOT_SAMPLED,
    BatchWork,
    CodeSignals,
    HotFunction,
    HotPlace,
    LoaderSettings,
    LoaderSignals,
    MakingSignals,
    OrderSignals,
    PassSignals,
    ReadSignals,
    Site,
    Stage,
    WorkerSignals,
    Workload,
)
from loaderdoctor.values import Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loaderdoctor.values import Measured, Value

__all__ = [
    "ENDED_BY_ITSELF",
    "NOT_RECORDED",
    "NOT_SAMPLED",
    "NO_EXCHANGE",
    "ONE_RANK",
    "WARM_UP",
    "BatchWork",
    "BrokenSignals",
    "CodeSignals",
    "DeviceSignals",
    "DiskSignals",
    "HardwareSignals",
    "HostSignals",
    "HotFunction",
    "HotPlace",
    "JobSignals",
    "LoaderSettings",
    "LoaderSignals",
    "LoopSignals",
    "MachineSignals",
    "MadeSeen",
    "MakingSignals",
    "OrderSignals",
    "PassSignals",
    "Phase",
    "ProcessSignals",
    "RankSignals",
    "ReadSignals",
    "Signals",
    "Site",
    "Spell",
    "Stage",
    "StepSeen",
    "StepSignals",
    "StepTimes",
    "Stretch",
    "TrainingSignals",
    "WorkerSignals",
    "Workload",
]

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
class Spell:
    """A part of the run after warm-up in which it waited about as much all the time; steps are those of training, from 1 on."""

    from_step: int
    to_step: int
    from_s: float  # since the run's start
    to_s: float
    starved_share: Measured


@dataclass(frozen=True)
class StepSeen:
    """A batch as the training took it; times in ns from the start of the stretch.  `ready` batches lay there, None: not known."""

    loop: int
    batch: int
    asked_ns: int
    got_ns: int
    end_ns: int
    ready: int | None


@dataclass(frozen=True)
class MadeSeen:
    """A batch as it was made; worker -1 is the training process itself."""

    loop: int
    batch: int
    worker: int
    begin_ns: int
    end_ns: int


@dataclass(frozen=True)
class Stretch:
    """Of one rank; `after_s` is its distance from the end of warm-up, waits are on the host's clock."""

    rank: int
    ranks: int
    after_s: float
    length_ns: int
    wait_share: float
    steps: tuple[StepSeen, ...]
    made: tuple[MadeSeen, ...]
    pins: tuple[tuple[int, int], ...]


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


ENDED_BY_ITSELF = Missing("ended-by-itself", "The run was not broken off: the script ended by itself.")


@dataclass(frozen=True)
class BrokenSignals:
    """What a run that crashed, or that somebody had to end, left behind of the reasons; missing of one that ended by itself."""

    stalled_s: Value = ENDED_BY_ITSELF  # from the last thing that the training did until it was ended from outside
    silent_workers: Value = ENDED_BY_ITSELF  # that lived at the end and never made a batch
    silent_waits_share: Value = (
        ENDED_BY_ITSELF  # of the looks at those: asleep or in a lock, neither reading nor running
    )
    parent_threads: Value = ENDED_BY_ITSELF  # of the training process when it started its last workers
    shm_size_bytes: Value = ENDED_BY_ITSELF
    shm_least_free_bytes: Value = ENDED_BY_ITSELF
    descriptors_share: Value = ENDED_BY_ITSELF  # most that a process had open, of its limit


@dataclass(frozen=True)
class HardwareSignals:
    """Clocks, and where the process runs in relation to its device."""

    cpu_clock_change: Value = NOT_SAMPLED  # of the CPUs that the job may use: late in the run over early in it
    device_held_share: Value = NOT_SAMPLED  # of the looks at a GPU, those at which heat or power held its clock down
    cpus_near_device: Value = NOT_SAMPLED  # share of the CPUs that the process may run on


@dataclass(frozen=True)
class LoopSignals:
    """What the training's loop does besides training.  Shares are of the time after warm-up, on the host's clock."""

    after_step_share: Value = (
        NOT_RECORDED  # CPU time from the optimizer's step to the next request, where nothing is saved
    )
    save_share: Value = NOT_RECORDED  # of rare steps that write much, what they take longer than the others
    save_s: Value = NOT_RECORDED  # one of them, beyond a usual step
    save_bytes: Value = NOT_RECORDED
    steps_per_save: Value = NOT_RECORDED
    collected_share: Value = NOT_RECORDED  # full collections of garbage, outside of the making of batches


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
    last_host: str | None = None  # of a job on several
    compute_spread: Value = ONE_RANK  # CPU time of computing, the busiest rank's over the least busy one's
    exchange_share: Value = NO_EXCHANGE  # of a step, in collectives


@dataclass(frozen=True)
class RankSignals:
    """One training process of several, by its own records alone.  Waits are on the clock of the run, after warm-up."""

    rank: int  # of the job; of processes that are no ranks of one, their number in the order of their starts
    host: str  # host-1, host-2, ... in the order of their ranks, or the host's own name where that may be told
    batches: int
    step_s: Value
    wait_s: Value
    starved_share: Value
    last_share: Value  # of the steps in common, those in which the others waited for this rank's batch


@dataclass(frozen=True)
class HostSignals:
    """One machine of a job that was recorded in several parts."""

    host: str
    ranks: tuple[int, ...]
    machine: MachineSignals


@dataclass(frozen=True)
class ProcessSignals:
    """The training processes beside each other, and the machines that they run on."""

    each: tuple[RankSignals, ...] = ()  # where there are more than one
    are_ranks: bool = True  # of one job; else trainings of their own, of which the first one is explained
    by_host: tuple[HostSignals, ...] = ()  # where more than one part was recorded
    on_host: int | None = None  # of them, those on the host of the one that is explained; None: all ranks


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
class StepTimes:
    """Every step after warm-up in order, each from the end of the one before: gaps and evaluations are in it."""

    seconds: tuple[float, ...] = ()
    kinds: tuple[int, ...] = ()  # equal for steps that are alike: of one loader, the first of an epoch or not
    is_training: tuple[bool, ...] = ()
    first: int | None = None  # number of the first one in the run; None where a long run is seen in stretches


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
    hardware: HardwareSignals = field(default_factory=HardwareSignals)
    loop: LoopSignals = field(default_factory=LoopSignals)
    broken: BrokenSignals = field(default_factory=BrokenSignals)
    job: JobSignals = field(default_factory=JobSignals)
    training: TrainingSignals = field(default_factory=TrainingSignals)
    spells: tuple[Spell, ...] = ()  # in order; more than one where the share of waiting changed for good
    training_steps: int = 0  # batches of training, of all its loaders, in the time after warm-up
    times: StepTimes = field(default_factory=StepTimes)
    processes: ProcessSignals = field(default_factory=ProcessSignals)
    stretch: Stretch | None = None  # a typical one, in full detail

    @property
    def neighbours(self) -> int:
        """Training processes that share the machine, the one that is explained included."""
        on_host = self.processes.on_host
        return max(1, self.ranks if on_host is None else on_host)

    @property
    def main(self) -> LoaderSignals | None:
        """The main training loader: the one whose steps take the most time."""
        return self.loaders[0] if self.loaders else None
