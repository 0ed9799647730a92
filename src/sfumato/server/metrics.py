"""Counters for Prometheus: how many requests, how long they took, what is running. No names, no questions, no data."""

from __future__ import annotations

import threading
from bisect import bisect_left
from typing import final

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@final
class Metrics:
    """Counts requests of one process, by method, template of the route and status."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int | str], int] = {}
        self._times: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self._counts: dict[str, int] = {"sfumato_questions_waiting": 0, "sfumato_sign_ins_refused_total": 0}

    def request(self, method: str, route: str, status: int | str, seconds: float) -> None:
        """Counts a request that was answered."""
        with self._lock:
            key = method, route, status
            self._requests[key] = self._requests.get(key, 0) + 1
            times = self._times.setdefault(route, [0] * (len(BOUNDS) + 1))
            times[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def add(self, name: str, count: int = 1) -> None:
        """Moves one of the other counters."""
        with self._lock:
            self._counts[name] = self._counts.get(name, 0) + count

    def text(self) -> str:
        """Writes all of it as Prometheus reads it."""
        with self._lock:
            lines = ["# TYPE sfumato_requests_total counter"]
            lines += [
                f'sfumato_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
                for (method, route, status), count in sorted(self._requests.items(), key=str)
            ]
            lines.append("# TYPE sfumato_request_seconds histogram")
            for route, times in sorted(self._times.items()):
                total = 0
                for bound, count in zip((*BOUNDS, "+Inf"), times, strict=True):
                    total += count
                    lines.append(f'sfumato_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}')
                lines.append(f'sfumato_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'sfumato_request_seconds_count{{route="{route}"}} {total}')
            for name, count in sorted(self._counts.items()):
                kind = "counter" if name.endswith("_total") else "gauge"
                lines += [f"# TYPE {name} {kind}", f"{name} {count}"]
        return "\n".join(lines) + "\n"
