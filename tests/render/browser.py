"""Chromium over its DevTools pipe: enough to open a file, look at it, and hear what it complains about.

File descriptors 3 and 4 carry JSON messages ended by a NUL byte (the DevTools protocol, `--remote-debugging-pipe`).
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
WAIT = 30.0


class Browser:
    """One page of one Chromium; `complaints` are console messages, exceptions and log entries, CSP violations among them."""

    def __init__(self, folder: Path) -> None:
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        # The child's ends must be 3 and 4 there, whatever numbers they have here: a shell moves them.
        command = ["chromium", *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        script = f'exec 3<&{to_child} 4>&{from_child}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *command],
            pass_fds=(to_child, from_child),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self._buffer = b""
        self._number = 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._write)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._read, 1 << 20) if ready else b""
            if not more:
                raise TimeoutError("Chromium does not answer")
            self._buffer += more
        raw, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(raw)
        self._hear(found)
        return found

    def _hear(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled":
                self.complaints.append(str([row.get("value") for row in params["args"]]))
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params} | ({"sessionId": self._session} if self._session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + WAIT
        while True:
            found = self._message(until)
            if found.get("id") == number:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result

    def show(self, url: str, width: int, height: int, dark: bool = False, script: bool = True) -> None:
        """Open a page at a size, in light or dark, and wait until it is loaded."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        # Left and opened anew, or an equal address with another hash would only scroll.
        for address in ("about:blank", url):
            self.call("Page.navigate", url=address)
            until = time.monotonic() + WAIT
            while self._message(until).get("method") != "Page.loadEventFired":
                pass

    def value(self, expression: str) -> Any:
        """What a JavaScript expression is in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, file: Path, full: bool = True) -> None:
        """A screenshot, of the whole page or of what is in the window."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        file.write_bytes(base64.b64decode(found["data"]))

    def printed(self, file: Path) -> None:
        """The page as PDF."""
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))
