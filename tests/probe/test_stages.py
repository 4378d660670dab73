"""The stages of a batch: what is wrapped, what it adds up, and that nothing else changes."""

from __future__ import annotations

import inspect
import io
import pickle
import sys
import textwrap
import threading
import time
import types
import zipfile

import pytest
import torch
from PIL import Image, ImageFile
from probe_recorder import MS, Recorder, burn

from loaderdoctor.probe import stage_clock
from loaderdoctor.probe._importlib_bootstrap import compose
from loaderdoctor.probe._importlib_bootstrap.timed import timed
from loaderdoctor.probe.stages import batch_began, batch_ended, flush, register


@pytest.fixture
def recorder():
    yield Recorder()
    stage_clock.running.totals.clear()


def test_only_what_runs_while_a_batch_is_made_is_counted(recorder):
    read = timed(burn, lambda _: "read:it")
    read(1)
    batch_began()
    read(1)
    read(1)
    batch_ended(recorder, 0)
    read(1)
    flush(recorder, 0)
    assert recorder.stages()["read:it"]["calls"] == 2


def test_a_stage_does_not_own_the_time_of_the_stages_inside_it(recorder):
    decode = timed(burn, lambda _: "decode:inner")

    def outer():
        burn(6)
        decode(20)

    read = timed(outer, lambda _: "read:outer")
    batch_began()
    read()
    batch_ended(recorder, 3)
    flush(recorder, 3)
    stages = recorder.stages()
    assert 6 * MS <= stages["read:outer"]["self_cpu_ns"] < 8 * MS
    assert 20 * MS <= stages["decode:inner"]["self_cpu_ns"] < 22 * MS
    assert stages["read:outer"]["total_ns"] >= stages["decode:inner"]["total_ns"] + 6 * MS
    assert stages["read:outer"]["worker"] == 3


def test_waiting_shows_as_wall_time_without_cpu_time(recorder):
    read = timed(time.sleep, lambda _: "read:slow")
    batch_began()
    read(0.03)
    batch_ended(recorder, 0)
    flush(recorder, 0)
    row = recorder.stages()["read:slow"]
    assert row["self_ns"] >= 30 * MS
    assert row["self_cpu_ns"] < 3 * MS


def test_an_exception_passes_and_leaves_no_stage_open(recorder):
    def fail():
        raise KeyError("sample 9")

    read = timed(fail, lambda _: "read:fails")
    batch_began()
    with pytest.raises(KeyError, match="sample 9"):
        read()
    assert stage_clock.running.open == []
    batch_ended(recorder, 0)


def test_another_thread_is_not_measured(recorder):
    read = timed(burn, lambda _: "read:elsewhere")
    batch_began()
    thread = threading.Thread(target=read, args=(1,))
    thread.start()
    thread.join()
    batch_ended(recorder, 0)
    flush(recorder, 0)
    assert recorder.stages() == {}


def test_nothing_is_written_twice(recorder):
    read = timed(burn, lambda _: "read:once")
    batch_began()
    read(1)
    batch_ended(recorder, 0)
    flush(recorder, 0)
    flush(recorder, 0)
    assert [row["calls"] for _, row in recorder.rows] == [1]


def module_of(name, source):
    module = types.ModuleType(name)
    exec(textwrap.dedent(source), module.__dict__)  # noqa: S102 - a library that is not installed here
    return module


def registered(modules):
    """What register() does to modules that are imported after it."""
    register(lambda name, wrap: wrap(modules[name]) if name in modules else None)


def test_functions_of_the_table_are_wrapped_and_look_as_before():
    cv2 = module_of("cv2", "def imread(path, flags=1):\n    'Reads.'\n    return path")
    original = cv2.imread
    sys.modules["cv2"] = cv2
    try:
        registered({"cv2": cv2})
        assert cv2.imread is not original
        assert cv2.imread("a") == "a"
        assert str(inspect.signature(cv2.imread)) == "(path, flags=1)"
        assert (cv2.imread.__name__, cv2.imread.__doc__) == ("imread", "Reads.")
        assert pickle.loads(pickle.dumps(cv2.imread)) is cv2.imread  # noqa: S301 - our own bytes
        wrapped = cv2.imread
        registered({"cv2": cv2})
        assert cv2.imread is wrapped
    finally:
        del sys.modules["cv2"]


def test_a_method_named_by_its_class(recorder):
    library = module_of(
        "albumentations.core.transforms_interface",
        """
        class BasicTransform:
            def __call__(self, **data):
                return data
        class Blur(BasicTransform):
            pass
        """,
    )
    registered({"albumentations.core.transforms_interface": library})
    batch_began()
    assert library.Blur()(image=1) == {"image": 1}
    with pytest.raises(TypeError):
        library.BasicTransform.__call__()
    batch_ended(recorder, 0)
    flush(recorder, 0)
    assert recorder.stages()["transform:Blur"]["calls"] == 1


def test_an_absent_function_or_a_type_in_c_is_passed_over():
    class H5:
        class Dataset:
            __getitem__ = dict.__getitem__

    registered({"h5py._hl.dataset": H5, "pandas": types.ModuleType("pandas")})
    assert H5.Dataset.__getitem__ is dict.__getitem__


def test_a_wrapped_function_can_still_be_scripted(tmp_path):
    (tmp_path / "scripted_io.py").write_text(
        textwrap.dedent(
            """
            import torch

            def twice(x: torch.Tensor) -> torch.Tensor:
                return x + x

            def read_image(x: torch.Tensor) -> torch.Tensor:
                return twice(x)
            """
        )
    )
    sys.path.insert(0, str(tmp_path))
    try:
        import scripted_io

        wrapped = timed(scripted_io.read_image, lambda _: "decode:it")
        assert torch.equal(torch.jit.script(wrapped)(torch.ones(2)), torch.full((2,), 2.0))
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("scripted_io", None)


COMPOSE_V1 = """
class Compose:
    def __init__(self, transforms):
        self.transforms = transforms
    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img
"""
COMPOSE_V2 = """
class Compose:
    def __init__(self, transforms):
        self.transforms = transforms
    def forward(self, *inputs: int) -> int:
        needs_unpacking = len(inputs) > 1
        for transform in self.transforms:
            outputs = transform(*inputs)
            inputs = outputs if needs_unpacking else (outputs,)
        return outputs
    def __call__(self, *inputs):
        return self.forward(*inputs)
"""


def importable(tmp_path, monkeypatch, source):
    (tmp_path / "fake_torchvision.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "fake_torchvision", raising=False)
    import fake_torchvision

    return fake_torchvision


@pytest.mark.parametrize(("source", "wrap"), [(COMPOSE_V1, compose.wrap_v1), (COMPOSE_V2, compose.wrap_v2)])
def test_each_transform_of_a_compose_is_a_stage(source, wrap, tmp_path, monkeypatch, recorder):
    module = importable(tmp_path, monkeypatch, source)
    original = module.Compose.__call__
    wrap(module)

    class Flip:
        def __call__(self, x):
            return -x

    def shift(x):
        return x + 1

    both = module.Compose([Flip(), shift])
    assert both(4) == -3
    batch_began()
    assert both(4) == -3
    batch_ended(recorder, 0)
    flush(recorder, 0)
    assert {name: row["calls"] for name, row in recorder.stages().items()} == {
        "transform:Flip": 1,
        "transform:shift": 1,
    }
    assert (module.Compose.__call__ is original) == (source is COMPOSE_V2)


def test_a_v2_compose_hands_on_several_inputs(tmp_path, monkeypatch):
    module = importable(tmp_path, monkeypatch, COMPOSE_V2)
    compose.wrap_v2(module)
    assert module.Compose([lambda a, b: (b, a), lambda a, b: (a + 1, b)])(1, 5) == (6, 1)


def test_a_compose_of_another_source_is_left_alone(tmp_path, monkeypatch):
    module = importable(tmp_path, monkeypatch, COMPOSE_V1.replace("img = t(img)", "img = t(img, 1)"))
    original = module.Compose.__call__
    compose.wrap_v1(module)
    assert module.Compose.__call__ is original


def test_real_libraries_give_the_same_results(recorder, monkeypatch, tmp_path):
    monkeypatch.setattr(Image, "open", Image.open)
    monkeypatch.setattr(ImageFile.ImageFile, "load", ImageFile.ImageFile.load)
    monkeypatch.setattr(zipfile.ZipFile, "read", zipfile.ZipFile.read)
    monkeypatch.setattr(zipfile.ZipExtFile, "read", zipfile.ZipExtFile.read)
    jpeg = io.BytesIO()
    Image.effect_noise((640, 480), 60).save(jpeg, "JPEG")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr("one.jpg", jpeg.getvalue())

    def pixels():
        with zipfile.ZipFile(tmp_path / "photos.zip") as archive:
            return Image.open(io.BytesIO(archive.read("one.jpg"))).convert("RGB").tobytes()

    before = pixels()
    registered({"PIL.Image": Image, "PIL.ImageFile": ImageFile, "zipfile": zipfile})
    batch_began()
    assert pixels() == before
    batch_ended(recorder, 0)
    flush(recorder, 0)
    stages = recorder.stages()
    assert {"read:PIL.Image.open", "decode:PIL.ImageFile.ImageFile.load", "read:zipfile.ZipFile.read"} <= set(stages)
    assert stages["decode:PIL.ImageFile.ImageFile.load"]["self_cpu_ns"] > MS // 2
