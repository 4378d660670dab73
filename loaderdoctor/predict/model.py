"""A discrete-event replay of the DataLoader.

Indices are dealt to the workers in turn, `prefetch` batches a worker ahead of what was delivered; a worker makes its
batches one after the other; the consumer takes them in order, works, and asks again.  Making and using a batch have a
part that holds a core and a part that reads a disk, and both stretch when more processes want them than there are, those
of other jobs among them; the rest (network, sleep, locks) passes as it would alone.  A device, where there is one, works behind the host.

    worker 0  [batch 0 ][batch 2 ]    [batch 4 ]
    worker 1  [batch 1    ][batch 3 ][batch 5   ]
    consumer  wait      [use 0][use 1][use 2] ...

Out of order, the consumer takes what is made first, and an index goes to a worker that has fewer than `prefetch` of them.

Not in the model: the pin thread's own time, memory bandwidth that processes share.  They are part of the error that
`speedup` states.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from loaderdoctor.predict.computing import LONG_WAIT_S
from loaderdoctor.predict.task import Task

if TYPE_CHECKING:
    from loaderdoctor.predict.plan import Plan

DISK_STREAMS = 4.0  # readers that a disk or share serves side by side at full speed each; past it they queue
FREE_RUN_AHEAD = 16  # steps: a device queues about a thousand kernels, a step has some tens or more
# A team of threads waits for its slowest: where a worker takes the core of one of them for half of the time, all of them
# lose more than that half, since threads that wait for the one without a core do not finish either.  Of two threads on two
# cores, with one worker and with two, a step was measured to take 1.20 and 1.28 times as long; this gives 1.2.
TEAM_LOSS = 2.0
_ROUNDING_S = 1e-9  # two events this close are one: the resolution of the recorded times


@dataclass(frozen=True)
class Outcome:
    """Times of a replay after warm-up, in seconds; lists have one entry a replayed batch."""

    total_s: float
    wait_s: float
    steps_s: list[float]
    waits_s: list[float]
    weights: list[float]
    waited_for_core: float  # of the consumer: waiting for a core over its CPU time


@dataclass
class _Consumer:
    """The consumer's and the device's side of the timeline."""

    plan: Plan
    asked_s: float = 0.0
    ready_s: float = 0.0  # when the device, or the consumer itself, was done with the last batch
    copied_s: deque[float] = field(default_factory=deque)
    steps_s: list[float] = field(default_factory=list)
    waits_s: list[float] = field(default_factory=list)

    def used(self, batch: int, got_s: float, end_s: float) -> None:
        """The consumer got the batch, and was done with its own part of it; sets when it asks for the next one."""
        begin_s = max(self.ready_s, got_s)
        ready_s = end_s
        self.waits_s.append(max(0.0, got_s - max(self.asked_s, self.ready_s)))
        self.asked_s = end_s
        if self.plan.device_s:
            ready_s = max(begin_s + self.plan.copy_s + self.plan.device_s[batch], end_s)
            self._hold_back(begin_s + self.plan.copy_s, ready_s)
        self.steps_s.append(ready_s - self.ready_s)
        self.ready_s = ready_s

    def _hold_back(self, copied_s: float, ready_s: float) -> None:
        ahead = FREE_RUN_AHEAD if self.plan.run_ahead is None else self.plan.run_ahead
        if ahead == 0:
            self.asked_s = max(self.asked_s, ready_s)
            return
        self.copied_s.append(copied_s)
        if len(self.copied_s) >= ahead:
            self.asked_s = max(self.asked_s, self.copied_s.popleft())


@dataclass
class _Process:
    """A worker, or the consumer, at work on something."""

    task: Task
    left_s: float
    batch: int
    speed: float = 1.0

    @classmethod
    def at(cls, task: Task, batch: int, times: float = 1.0) -> _Process:
        return cls(task, task.seconds * times, batch)

    def waiting_first(self, seconds: float) -> _Process:
        """The same after a wait in which no core is held."""
        if seconds <= 0:
            return self
        whole_s = self.left_s + seconds
        held = Task(whole_s, self.task.cpu_share * self.left_s / whole_s)
        return _Process(held, whole_s, self.batch)


@dataclass
class _Cpu:
    """Sets the speed of everything that runs, and remembers what the consumer lost by it."""

    cores: float
    neighbours: float = 0.0
    waited_s: float = 0.0
    cpu_s: float = 0.0

    def share_out(self, workers: list[_Process], consumer: _Process | None) -> None:
        """Speeds at which nobody uses more than there is: a part that is n times oversubscribed takes n times as long."""
        demand = sum(process.task.cpu_share for process in workers)
        own = min(consumer.task.cpu_share, max(1.0, self.cores)) if consumer else 0.0
        cpu = stretch(demand, len(workers), own, self.neighbours, self.cores)
        disk = max(1.0, sum(process.task.disk_share for process in workers) / DISK_STREAMS)
        for process in workers:
            process.speed = 1 / (1 + process.task.cpu_share * (cpu - 1) + process.task.disk_share * (disk - 1))
        if consumer:
            slowed = 1 + min(1.0, own) * (cpu - 1)
            consumer.speed = 1 / max(slowed, self._team_stretch(consumer.task.cpu_share, own + demand))

    def _team_stretch(self, threads: float, wanted: float) -> float:
        """How much longer the consumer's work takes where it runs on several cores, and workers want some of them."""
        taken = wanted + self.neighbours - self.cores
        return 1 + TEAM_LOSS * min(1.0, max(0.0, taken)) * min(1.0, max(0.0, threads - 1))

    def pass_time(self, consumer: _Process | None, passed_s: float) -> None:
        """Notes how much of the consumer's CPU time passed, and how much longer it took."""
        if consumer and consumer.task.cpu_share > 0:
            self.cpu_s += passed_s * consumer.speed * min(1.0, consumer.task.cpu_share)
            self.waited_s += passed_s * (1 - consumer.speed)


def stretch(demand: float, workers: int, own: float, neighbours: float, cores: float) -> float:
    """How much longer CPU work takes when `workers` want `demand` cores, the consumer `own`, and other jobs `neighbours`.

    The smallest s >= 1 at which all of them use `cores`: a process that holds a core for a share f of its time uses
    f / (1 - f + f s) of one.  Newton's steps from below stay below, because that use is convex in s.
    """
    wanted = demand + own + neighbours
    if wanted <= cores:
        return 1.0
    share = demand / workers if workers else 0.0
    alone = min(1.0, own)
    s = wanted / cores
    for _ in range(4):
        slowed, slowed_own = 1 - share + share * s, 1 - alone + alone * s
        use = demand / slowed + own / slowed_own + neighbours / s
        slope = demand * share / slowed**2 + own * alone / slowed_own**2 + neighbours / s**2
        s += (use - cores) / slope
    return s


def run(plan: Plan) -> Outcome:
    """Replays the plan from the first iter() to the end of the last step."""
    cpu, consumer = _Cpu(plan.cores, plan.neighbours), _Consumer(plan)
    for epoch, gap_s in zip(plan.epochs, plan.gap_s, strict=True):
        if plan.workers:
            _epoch_of_workers(plan, epoch, gap_s, consumer, cpu)
        else:
            _epoch_inline(plan, epoch, gap_s, consumer, cpu)
    return Outcome(
        total_s=max(_weighted(plan.weights, consumer.steps_s), _least_s(plan)),
        wait_s=_weighted(plan.weights, consumer.waits_s),
        steps_s=consumer.steps_s,
        waits_s=consumer.waits_s,
        weights=plan.weights,
        waited_for_core=cpu.waited_s / cpu.cpu_s if cpu.cpu_s > 0 else 0.0,
    )


def _least_s(plan: Plan) -> float:
    """What the cores need for the measured batches alone.

    Batches made ahead during warm-up come for nothing after it, and the fewer are measured the more that counts: it is no
    gain that lasts.
    """
    cpu_s = [
        sum(task.seconds * task.cpu_share for task in (making, using))
        for making, using in zip(plan.making, plan.using, strict=True)
    ]
    return _weighted(plan.weights, cpu_s) / plan.cores


def _weighted(weights: list[float], seconds: list[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, seconds, strict=True))


def _epoch_inline(plan: Plan, epoch: range, gap_s: float, consumer: _Consumer, cpu: _Cpu) -> None:
    """num_workers=0: the consumer makes each batch itself when it asks for it."""
    now_s = consumer.asked_s + gap_s
    for batch in epoch:
        got_s = now_s + _alone_s(_Process.at(plan.making[batch], batch), cpu)
        using = _Process.at(plan.using[batch], batch, _slower(plan, got_s - consumer.asked_s))
        using_s = _alone_s(using, cpu)
        cpu.pass_time(using, using_s)
        consumer.used(batch, got_s, got_s + using_s)
        now_s = consumer.asked_s


def _slower(plan: Plan, waited_s: float) -> float:
    """How many times as long a step takes after this wait for its batch."""
    return 1 + plan.cold if waited_s >= LONG_WAIT_S else 1.0


def _alone_s(process: _Process, cpu: _Cpu) -> float:
    cpu.share_out([], process)
    return process.left_s / process.speed


def _epoch_of_workers(plan: Plan, epoch: range, gap_s: float, consumer: _Consumer, cpu: _Cpu) -> None:
    """Workers make the batches of one epoch while the consumer uses them in order."""
    now_s = consumer.asked_s + gap_s
    pool = _Pool(plan, epoch)
    using: _Process | None = None
    got_s, taken = now_s, 0
    while taken < len(epoch):
        wanted = pool.ready(epoch.start + taken) if using is None and now_s >= consumer.asked_s - _ROUNDING_S else None
        if wanted is not None:
            held_up_s = min(plan.receive_wait_s[wanted], pool.took(wanted))
            using = _Process.at(plan.using[wanted], wanted, _slower(plan, now_s - consumer.asked_s)).waiting_first(
                held_up_s
            )
            cpu.share_out(pool.busy, using)
            got_s = now_s + (plan.receive_s[wanted] + held_up_s) / using.speed
        cpu.share_out(pool.busy, using)
        passed_s = _until_next(pool.busy, using, consumer.asked_s - now_s)
        now_s += passed_s
        cpu.pass_time(using, passed_s)
        pool.work(passed_s)
        if using is not None:
            using.left_s -= passed_s * using.speed
            if using.left_s <= _ROUNDING_S:
                consumer.used(using.batch, got_s, now_s)
                using, taken = None, taken + 1


def _until_next(workers: list[_Process], using: _Process | None, held_back_s: float) -> float:
    soonest_s = using.left_s / using.speed if using else held_back_s if held_back_s > 0 else inf
    for process in workers:
        soonest_s = min(soonest_s, process.left_s / process.speed)
    return max(0.0, soonest_s)


class _Pool:
    """The workers of one epoch and their index queues."""

    def __init__(self, plan: Plan, epoch: range) -> None:
        self._plan = plan
        self._queues: list[deque[int]] = [deque() for _ in range(plan.workers)]
        self._idle = set(range(plan.workers))
        self._running: dict[int, _Process] = {}
        self._undealt = _parts_of(plan, epoch)
        self._dealt = 0
        self._held = [0] * plan.workers  # batches of each that were dealt and not taken
        self._owner: dict[int, int] = {}
        self._made: dict[int, None] = {}  # in the order in which they were made
        self.busy: list[_Process] = []
        for _ in range(plan.workers * plan.prefetch):
            self._deal_one()

    def ready(self, in_turn: int) -> int | None:
        """The batch that the consumer may have now: the one in turn, or, out of order, the one that was made first."""
        if self._plan.in_order:
            return in_turn if in_turn in self._made else None
        return next(iter(self._made), None)

    def took(self, batch: int) -> float:
        """The consumer takes the batch, and another index is dealt.  For how long its worker goes on with another batch."""
        del self._made[batch]
        worker = self._owner.pop(batch)
        now = self._running.get(worker)
        self._held[worker] -= 1
        self._deal_one()
        return now.left_s if now else 0.0

    def _deal_one(self) -> None:
        """The next index goes to the next worker in turn; out of order, to the next one that has room and anything left."""
        for _ in range(self._plan.workers):
            worker = self._dealt % self._plan.workers
            self._dealt += 1
            undealt = self._undealt[worker]
            if undealt and (self._plan.in_order or self._held[worker] < self._plan.prefetch):
                batch = undealt.popleft()
                self._held[worker] += 1
                self._owner[batch] = worker
                self._queues[worker].append(batch)
                if worker in self._idle:
                    self._start(worker)
                return

    def work(self, passed_s: float) -> None:
        """Lets time pass; batches that are done go to `made`, and their workers to the next index."""
        done = []
        for worker, process in self._running.items():
            process.left_s -= passed_s * process.speed
            if process.left_s <= _ROUNDING_S:
                done.append(worker)
        for worker in done:
            self._made[self._running.pop(worker).batch] = None
            self._start(worker)

    def _start(self, worker: int) -> None:
        if self._queues[worker]:
            batch = self._queues[worker].popleft()
            self._running[worker] = _Process.at(self._plan.making[batch], batch)
            self._idle.discard(worker)
        else:
            self._idle.add(worker)
        self.busy = list(self._running.values())


def _parts_of(plan: Plan, epoch: range) -> list[deque[int]]:
    """What is left to deal to each worker: all of them share one row, unless each has a part of its own."""
    if not plan.owners:
        return [deque(epoch)] * plan.workers
    return [deque(batch for batch in epoch if plan.owners[batch] == worker) for worker in range(plan.workers)]
