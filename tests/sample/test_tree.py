"""Which processes belong to a script."""

import os
import signal
import sys

import psutil
import pytest
from drawn_machine import machine, stat
from real_processes import PARENT, SLEEP, open_descriptors, running

from loaderdoctor.sample.procfs import Roots
from loaderdoctor.sample.tree import ProcessTree

TREE = f"""
    proc/10/stat = {stat()}
    proc/10/task/10/children = 11
    proc/10/task/15/children = 13
    proc/11/stat = {stat(ppid=10)}
    proc/11/task/11/children = 12 99
    proc/12/stat = {stat(ppid=11)}
    proc/12/task/12/children =
    proc/13/stat = {stat(ppid=10)}
    proc/13/task/13/children =
    proc/50/stat = {stat()}
    proc/50/task/50/children = 51
"""


def test_children_of_children_and_of_every_thread_belong_to_it(tmp_path):
    # 99 is listed and ended before it could be looked at
    assert ProcessTree(10, machine(tmp_path, TREE)).pids() == [10, 11, 13, 12]


def test_a_script_that_has_ended_has_no_tree(tmp_path):
    assert ProcessTree(77, machine(tmp_path, TREE)).pids() == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_child_stays_in_the_tree_until_it_ends_itself():
    with running(PARENT) as parent:
        tree = ProcessTree(parent.pid, Roots())
        root, *children = tree.pids()
        assert root == parent.pid
        assert sorted(children) == sorted(child.pid for child in psutil.Process(parent.pid).children())
        parent.kill()
        parent.wait()
        assert sorted(tree.pids()) == sorted(children), "their parent ended, they live"
        for pid in children:
            process = psutil.Process(pid)
            os.kill(pid, signal.SIGKILL)
            process.wait()
        assert tree.pids() == []
        tree.close()


def test_without_the_kernels_lists_the_tree_is_searched_for(tmp_path):
    with running(PARENT) as parent:
        tree = ProcessTree(parent.pid, machine(tmp_path))
        children = psutil.Process(parent.pid).children()
        assert set(tree.pids()) == {parent.pid, *(child.pid for child in children)}
        for child in children:
            child.kill()


def test_a_tree_gives_its_descriptors_back():
    with running(SLEEP) as process:
        before = open_descriptors()
        tree = ProcessTree(process.pid, Roots())
        tree.pids()
        tree.close()
        assert open_descriptors() <= before
