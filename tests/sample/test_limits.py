"""What the environment says of drawn machines, and that it says something of this one."""

import json
import os

import pytest
from drawn_machine import machine

from loaderdoctor.sample.cpulist import parse_cpu_list
from loaderdoctor.sample.limits import environment

EIGHT = "sys/devices/system/cpu/online = 0-7"
ALL = frozenset(range(8))
QUOTA = "proc/self/cgroup = 0::/a\ncgroup/a/cpu.max = {} 100000"

ALLOWED = {
    # name: (drawing, affinity, allowed, decided by)
    "nothing limits": (EIGHT, ALL, 8.0, "present"),
    "affinity": (EIGHT, frozenset({0, 5}), 2.0, "affinity"),
    "quota": (f"{EIGHT}\n{QUOTA.format(250000)}", ALL, 2.5, "quota"),
    "quota wider than the affinity": (f"{EIGHT}\n{QUOTA.format(400000)}", frozenset({1, 2}), 2.0, "affinity"),
    "cpuset": (
        f"{EIGHT}\nproc/self/cgroup = 0::/a\ncgroup/a/cpuset.cpus.effective = 4-6",
        ALL,
        3.0,
        "cpuset",
    ),
    "less than a core": (f"{EIGHT}\n{QUOTA.format(50000)}", ALL, 0.5, "quota"),
    "no binding to CPUs": (EIGHT, None, None, None),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_cpus_allowed_is_the_least_of_all_limits(tmp_path, case):
    drawing, affinity, allowed, by = ALLOWED[case]
    if allowed is None:
        affinity, allowed, by = ALL, 8.0, "present"
    found = environment(machine(tmp_path, drawing), affinity=affinity, variables={})
    assert (found["cpus_present"], found["cpus_allowed"], found["cpus_allowed_by"]) == (8, allowed, by)


def test_a_machine_without_proc_and_groups_still_has_cpus_and_memory_and_says_what_is_missing(tmp_path):
    found = environment(machine(tmp_path), affinity=None, variables={})
    assert found["cpus_present"] == os.cpu_count()
    assert found["memory_total_bytes"] > 0
    for name in ("cpus_quota", "memory_limit_bytes", "shm_total_bytes", "numa_nodes", "cpu_governor"):
        assert name not in found
        assert found["missing"][name]


def test_memory_limit_is_never_said_to_exceed_the_memory(tmp_path):
    drawing = """
        proc/meminfo = MemTotal: 1000 kB|SwapTotal: 10 kB
        proc/self/cgroup = 0::/a
        cgroup/a/memory.current = 1
        cgroup/a/memory.max = 99999999999
    """
    found = environment(machine(tmp_path, drawing), affinity=ALL, variables={})
    assert (found["memory_total_bytes"], found["memory_limit_bytes"], found["swap_total_bytes"]) == (
        1024000,
        1024000,
        10240,
    )


def test_numa_nodes_of_cpus_and_gpus(tmp_path):
    drawing = """
        sys/devices/system/node/node0/cpulist = 0-3
        sys/devices/system/node/node1/cpulist = 4-7
        sys/bus/pci/devices/0000:01/class = 0x030200
        sys/bus/pci/devices/0000:01/numa_node = 1
        sys/bus/pci/devices/0000:02/class = 0x020000
        sys/bus/pci/devices/0000:02/numa_node = 0
        sys/bus/pci/devices/0000:03/class = 0x030200
        sys/bus/pci/devices/0000:03/numa_node = -1
    """
    found = environment(machine(tmp_path, drawing), affinity=ALL, variables={})
    assert (found["numa_nodes"], found["gpu_numa_nodes"]) == ({"0": "0-3", "1": "4-7"}, [1])


def test_slurm_counts_are_told_and_names_are_not(tmp_path):
    variables = {
        "SLURM_CPUS_PER_TASK": "4",
        "SLURM_JOB_USER": "alice",
        "SLURMD_NODENAME": "node17",
        "HOME": "/home/alice",
    }
    found = environment(machine(tmp_path), affinity=ALL, variables=variables)
    assert found["slurm"] == {"SLURM_CPUS_PER_TASK": "4"}
    assert not [word for word in ("alice", "node17") if word in json.dumps(found)]


@pytest.mark.parametrize(
    ("drawing", "variables", "container"),
    [
        ("", {}, "none"),
        ("root/.dockerenv = ", {}, "docker"),
        ("root/run/.containerenv = ", {}, "podman"),
        ("proc/1/cgroup = 5:cpu:/kubepods/pod1", {}, "kubernetes"),
        ("root/.dockerenv = ", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ("", {"SINGULARITY_CONTAINER": "/images/a.sif"}, "apptainer"),
    ],
)
def test_container(tmp_path, drawing, variables, container):
    assert environment(machine(tmp_path, drawing), affinity=ALL, variables=variables)["container"] == container


def test_this_machine_has_an_environment_that_json_can_hold():
    found = environment()
    assert json.loads(json.dumps(found)) == found
    assert 0 < found["cpus_allowed"] <= found["cpus_present"]
    assert not set(found) & set(found["missing"])


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0-3,8", {0, 1, 2, 3, 8}), ("5", {5}), ("", set()), (" 1 , 3-4 ", {1, 3, 4}), ("0-x", set())],
)
def test_cpu_lists(text, cpus):
    assert parse_cpu_list(text) == cpus
