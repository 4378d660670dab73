"""A headless Chromium, driven over a pair of pipes by its own protocol: no package, no port, no network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE_S = 60.0
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe",
)  # fmt: skip


def found() -> str | None:
    """The browser of this machine, if it has one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of one browser."""

    def __init__(self, asks: int, answers: int) -> None:
        self._asks, self._answers = asks, answers
        self._buffer, self._last, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask, and wait for the answer; what comes before it is kept in `events`."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._asks, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != self._last:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            got = os.read(self._answers, 1 << 16)
            if not got:
                raise EOFError("the browser ended")
            self._buffer += got
        said, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(said)

    def show(self, path: Path, width: int, scheme: str = "light", height: int = 900) -> None:
        """Open a file at this width, in this colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        until = time.monotonic() + PATIENCE_S
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < until, f"{path} did not load"
            self.events.append(self._message())

    def value(self, script: str) -> Any:
        """What an expression gives in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        codes = {"Tab": 9, "Enter": 13}
        text = {"text": "\r"} if key == "Enter" else {}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self) -> bytes:
        """The whole page as PNG."""
        got = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        return base64.b64decode(got["data"])

    def said(self) -> list[str]:
        """Errors and warnings of the console, and addresses asked for beside the page's own."""
        texts = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}:
                texts.append(json.dumps(params)[:300])
            if event.get("method") == "Network.requestWillBeSent" and params.get("type") != "Document":
                texts.append(params["request"]["url"][:300])
        return texts


@contextmanager
def browser(executable: str, profile: Path) -> Iterator[Browser]:
    """Start it with a profile of its own, and end it."""
    shell = ["/bin/sh", "-c", 'exec "$@" 3<&0 4>&1', "sh"]  # its protocol is spoken over the descriptors 3 and 4
    process = subprocess.Popen(
        [*shell, executable, *FLAGS, f"--user-data-dir={profile}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    try:
        yield Browser(process.stdin.fileno(), process.stdout.fileno())
    finally:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        process.kill()
        process.wait()
        process.stdout.close()
