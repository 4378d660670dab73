"""Control groups of version 1 and 2, nested, mixed, and seen from inside a container."""

import pytest
from drawn_machine import NO_LIMIT_V1, machine

from loaderdoctor.sample.cgroup import Cgroups, CgroupSampler

V2 = "proc/self/cgroup = 0::/job/step"
V1 = "proc/self/cgroup = 5:cpu,cpuacct:/job/step|4:memory:/job/step|3:cpuset:/job/step|1:name=systemd:/"

CASES = {
    # name: (drawing, version, quota, cpuset, memory limit)
    "none": ("proc/self/cgroup = ", None, None, None, None),
    "v2 without limits": (f"{V2}\ncgroup/job/step/cpu.max = max 100000", 2, None, None, None),
    "v2 own quota": (f"{V2}\ncgroup/job/step/cpu.max = 250000 100000", 2, 2.5, None, None),
    "v2 quota of the group above": (
        f"{V2}\ncgroup/job/step/cpu.max = max 100000\ncgroup/job/cpu.max = 400000 100000",
        2, 4.0, None, None,
    ),
    "v2 the least up the tree": (
        f"{V2}\ncgroup/job/step/cpu.max = 800000 100000\ncgroup/job/cpu.max = 150000 100000",
        2, 1.5, None, None,
    ),
    "v2 cpuset and memory": (
        f"{V2}\ncgroup/job/step/cpuset.cpus.effective = 0-3,8\ncgroup/job/step/memory.current = 5\n"
        "cgroup/job/step/memory.max = max\ncgroup/job/memory.current = 9\ncgroup/job/memory.max = 1000",
        2, None, {0, 1, 2, 3, 8}, 1000,
    ),
    "v2 inside a container, the path is the host's": (
        "proc/self/cgroup = 0::/kubepods/pod1/abc\ncgroup/cpu.max = 200000 100000",
        2, 2.0, None, None,
    ),
    "v2 inside a namespace, the path leads out of it": (
        "proc/self/cgroup = 0::/../../other\ncgroup/cpu.max = 200000 100000",
        2, 2.0, None, None,
    ),
    "v1 without limits": (
        f"{V1}\ncgroup/cpu/job/step/cpu.cfs_quota_us = -1\ncgroup/cpu/job/step/cpu.cfs_period_us = 100000\n"
        f"cgroup/memory/job/step/memory.limit_in_bytes = {NO_LIMIT_V1}",
        1, None, None, None,
    ),
    "v1 quota above, cpuset, memory": (
        f"{V1}\ncgroup/cpu/job/step/cpu.cfs_quota_us = -1\ncgroup/cpu/job/step/cpu.cfs_period_us = 100000\n"
        "cgroup/cpu/job/cpu.cfs_quota_us = 50000\ncgroup/cpu/job/cpu.cfs_period_us = 100000\n"
        "cgroup/cpuset/job/step/cpuset.cpus = 2\ncgroup/memory/job/step/memory.limit_in_bytes = 4096",
        1, 0.5, {2}, 4096,
    ),
    "v1 in one folder for both controllers": (
        f"{V1}\ncgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us = 300000\n"
        "cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us = 100000",
        1, 3.0, None, None,
    ),
    "v1 inside a container, the path is the host's": (
        "proc/self/cgroup = 5:cpu:/docker/abc\ncgroup/cpu/cpu.cfs_quota_us = 100000\ncgroup/cpu/cpu.cfs_period_us = 100000",
        1, 1.0, None, None,
    ),
    "v1 governs, v2 beside it for processes only": (
        f"{V1}|0::/job\ncgroup/cpu/job/step/cpu.cfs_quota_us = 100000\ncgroup/cpu/job/step/cpu.cfs_period_us = 50000\n"
        "cgroup/unified/job/cgroup.events = x",
        1, 2.0, None, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_limits_up_the_tree(tmp_path, case):
    drawing, version, quota, cpuset, memory = CASES[case]
    groups = Cgroups(machine(tmp_path, drawing))
    found = (groups.version, groups.cpu_quota(), groups.cpuset(), groups.memory_limit_bytes())
    assert found == (version, quota, cpuset, memory)


def test_throttling_is_that_of_the_group_that_was_stopped_most(tmp_path):
    drawing = f"""
        {V2}
        cgroup/job/step/cpu.max = max 100000
        cgroup/job/step/cpu.stat = usage_usec 5|nr_periods 0|nr_throttled 0|throttled_usec 0
        cgroup/job/cpu.max = 100000 100000
        cgroup/job/cpu.stat = usage_usec 9|nr_periods 50|nr_throttled 20|throttled_usec 1500000
    """
    row = CgroupSampler(machine(tmp_path, drawing), root_pid=7).sample(())
    assert (row["periods"], row["throttled_periods"], row["throttled_cpu_s"]) == (50, 20, 1.5)
    assert row["quota_cpus"] == 1.0


def test_version_1_counts_throttled_time_in_nanoseconds(tmp_path):
    drawing = f"{V1}\ncgroup/cpu/job/step/cpu.stat = nr_periods 4|nr_throttled 1|throttled_time 2000000000"
    assert Cgroups(machine(tmp_path, drawing)).throttling()["throttled_cpu_s"] == 2.0


def test_memory_is_that_of_the_group_with_the_limit(tmp_path):
    drawing = f"""
        {V2}
        cgroup/job/step/memory.current = 100
        cgroup/job/step/memory.max = max
        cgroup/job/memory.current = 700
        cgroup/job/memory.max = 1000
        cgroup/job/memory.stat = anon 100|file 300
        cgroup/job/memory.events = low 0|oom 1|oom_kill 1
    """
    row = CgroupSampler(machine(tmp_path, drawing), root_pid=7).sample(())
    assert row["memory_limit_bytes"] == 1000
    assert (row["memory_bytes"], row["memory_cache_bytes"], row["oom_kills"]) == (700, 300, 1)


def test_without_groups_there_is_no_row(tmp_path):
    assert CgroupSampler(machine(tmp_path, "proc/self/cgroup = "), root_pid=7).sample(()) is None


def test_the_scripts_own_group_is_asked_and_not_that_of_the_parent(tmp_path):
    drawing = """
        proc/self/cgroup = 0::/login
        proc/7/cgroup = 0::/batch
        cgroup/login/cpu.max = max 100000
        cgroup/batch/cpu.max = 100000 100000
        cgroup/batch/cpu.stat = nr_periods 1|nr_throttled 0|throttled_usec 0
    """
    assert CgroupSampler(machine(tmp_path, drawing), root_pid=7).sample(())["quota_cpus"] == 1.0
