"""The one way to ask any accelerator, on modules of torch that have more or less of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from loaderdoctor.probe.device.backend import ModuleBackend, NoTimingError


class Module:
    """As torch.cuda."""

    def __init__(self):
        self.current = 0
        self.made = []

    def current_device(self):
        return 0

    def current_stream(self, index):
        self.made.append((index, self.current))
        return f"stream {index}.{self.current}"


def backend_of(module, **c_names):
    torch = SimpleNamespace(get_device_module=lambda _kind: module, _C=SimpleNamespace(**c_names))
    return ModuleBackend(torch, "any")


def test_the_object_of_a_stream_is_made_once():
    module = Module()
    backend = backend_of(module, _any_getCurrentRawStream=lambda index: 100 * index + module.current)
    assert [backend.stream(0), backend.stream(0), backend.stream(1)] == ["stream 0.0", "stream 0.0", "stream 1.0"]
    module.current = 7
    assert [backend.stream(0), backend.stream(0)] == ["stream 0.7", "stream 0.7"]
    module.current = 0
    assert backend.stream(0) == "stream 0.0"
    assert module.made == [(0, 0), (1, 0), (0, 7)]


def test_without_a_number_a_stream_is_asked_for_each_time():
    module = Module()
    backend = backend_of(module)
    assert [backend.stream(0), backend.stream(0)] == ["stream 0.0"] * 2
    assert len(module.made) == 2


@pytest.mark.parametrize(("answer", "capturing"), [(None, False), (False, False), (True, True)])
def test_whether_a_graph_is_captured(answer, capturing):
    module = Module()
    if answer is not None:
        module.is_current_stream_capturing = lambda: answer
    assert backend_of(module).capturing() is capturing


def test_an_event_that_has_no_time_is_an_error_of_ours():
    class Event:
        def elapsed_time(self, _end):
            raise RuntimeError("Backend doesn't support elapsedTime")

    backend = backend_of(Module())
    with pytest.raises(NoTimingError, match="elapsedTime"):
        backend.elapsed_ns(Event(), Event())


def test_a_device_that_cannot_tell_is_in_use_once_work_for_it_was_seen():
    backend = backend_of(Module())
    assert not backend.active()
    backend.seen()
    assert backend.active()
