"""What is logged: a line of JSON for each request, with nothing of what was asked or answered."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, final


@final
class Log:
    """Writes lines of JSON to a stream; people are named by pseudonyms that hold as long as the process."""

    def __init__(self, stream: TextIO | None, key: bytes) -> None:
        self._stream, self._key, self._lock = stream, key, threading.Lock()

    def line(self, event: str, **said: Any) -> None:
        """Writes a line."""
        if self._stream is None:
            return
        text = json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **said})
        with self._lock:
            self._stream.write(text + "\n")
            self._stream.flush()

    def pseudonym(self, name: str) -> str:
        """What somebody is called in the log: the same all the time that the process runs, and nothing else."""
        return hmac.new(self._key, name.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:12] if name else ""

    def fault(self, request_id: str, error: BaseException) -> None:
        """Writes where something went wrong: kinds and lines of code, without the words, which may quote data."""
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-12:]]
        self.line("fault", request=request_id, kind=type(error).__name__, where=where)
