"""How fast and how long: a token bucket for requests, and the end of all time."""

from __future__ import annotations

import threading
import time

from analyzer.collect.errors import Stopped


class Pace:
    """Shared by all threads: no more than `rate` requests a second (after `burst` free ones), and none after the end.

    Attributes:
        reason: why the collection ends early; None while it goes on.
    """

    def __init__(self, rate: float, burst: int, total: float) -> None:
        """`rate` in requests a second, `total` in seconds from now."""
        self._rate, self._burst = rate, float(burst)
        self._tokens, self._at = float(burst), time.monotonic()
        self._end = self._at + total
        self._total = total
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self.reason: str | None = None

    def stop(self, reason: str) -> None:
        """Ends the collection: every thread sees it at its next step. The first reason stands."""
        with self._lock:
            if self.reason is None:
                self.reason = reason
        self._stop.set()

    def ended(self) -> bool:
        """Has the collection ended."""
        if not self._stop.is_set() and time.monotonic() >= self._end:
            self.stop(f"the total time-out of {self._total:g} s")
        return self._stop.is_set()

    def check(self) -> None:
        """Raises `Stopped` where the collection has ended or its time is up."""
        if self.ended():
            raise Stopped

    def left(self) -> float:
        """Seconds until the end; at least a little, for time-outs of sockets."""
        return max(0.05, self._end - time.monotonic())

    def rest(self, seconds: float) -> None:
        """Waits, but not beyond the end.

        Raises:
            Stopped: the collection ended meanwhile.
        """
        self._stop.wait(min(seconds, self.left()))
        self.check()

    def turn(self) -> None:
        """Waits for the turn of the next request.

        Raises:
            Stopped: as `rest`.
        """
        self.check()
        while True:
            with self._lock:
                now = time.monotonic()
                self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
                self._at = now
                if self._tokens >= 1:
                    self._tokens -= 1
                    return
                missing = (1 - self._tokens) / self._rate
            self.rest(missing)
