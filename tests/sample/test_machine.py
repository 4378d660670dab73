"""Rows about the whole machine."""

import pytest
from drawn_machine import machine

from loaderdoctor.sample.machine import MachineSampler
from loaderdoctor.sample.shm import ShmSampler

STAT = "proc/stat = cpu  100 20 30 500 40 5 5 60 0 0|cpu0 60 20 10 100 0 0 0 60|cpu1 40 0 20 400 40 5 5 0|intr 9 9"


@pytest.fixture(autouse=True)
def _ticks_and_cpus(monkeypatch):
    monkeypatch.setattr("loaderdoctor.sample.machine.TICKS_PER_S", 10)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)


def test_busy_is_neither_idle_nor_waiting_for_disks_nor_stolen(tmp_path):
    row = MachineSampler(machine(tmp_path, STAT)).sample(())
    assert (row["cpus"], row["busy_cpu_s"], row["iowait_cpu_s"], row["stolen_cpu_s"]) == (2, 16.0, 4.0, 6.0)


def test_the_cpus_that_the_job_is_bound_to_are_added_up_on_their_own(tmp_path):
    row = MachineSampler(machine(tmp_path, STAT)).sample(())
    assert (row["allowed_cpus"], row["allowed_busy_cpu_s"], row["allowed_stolen_cpu_s"]) == (1, 9.0, 6.0)


def test_pressure_memory_and_clock(tmp_path):
    drawing = f"""
        {STAT}
        proc/pressure/cpu = some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000|full avg10=0 avg60=0 avg300=0 total=0
        proc/pressure/io = some avg10=0.00 avg60=0.00 avg300=0.00 total=250000|full avg10=0 avg60=0 avg300=0 total=9
        proc/meminfo = MemAvailable: 10 kB|Cached: 3 kB|SwapFree: 0 kB
        proc/vmstat = pswpin 7|pswpout 8|workingset_refault_file 9
        proc/loadavg = 0.50 0.40 0.30 1/100 77
        sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq = 2000000
    """
    sampler = MachineSampler(machine(tmp_path, drawing))
    row = sampler.sample(())
    assert (row["cpu_pressure_s"], row["io_pressure_s"]) == (1.5, 0.25)
    assert "memory_pressure_s" not in row
    assert (row["memory_available_bytes"], row["page_cache_bytes"], row["swap_free_bytes"]) == (10240, 3072, 0)
    assert (row["swapped_in_pages"], row["swapped_out_pages"], row["file_refaults"]) == (7, 8, 9)
    assert (row["load_1min"], row["cpu_frequency_hz"]) == (0.5, 2e9)
    assert sampler.notes() == []


def test_a_kernel_without_pressure_is_noted(tmp_path):
    sampler = MachineSampler(machine(tmp_path, STAT))
    sampler.sample(())
    assert [slug for slug, _ in sampler.notes()] == ["pressure-unreadable"]


def test_without_proc_the_row_has_what_psutil_knows(tmp_path):
    row = MachineSampler(machine(tmp_path)).sample(())
    assert row["busy_cpu_s"] > 0
    assert row["memory_available_bytes"] > 0


def test_shared_memory_has_a_size_where_it_exists(tmp_path):
    roots = machine(tmp_path)
    assert ShmSampler(roots).sample(()) is None
    roots.shm.mkdir()
    row = ShmSampler(roots).sample(())
    assert row["size_bytes"] >= row["free_bytes"] > 0
