"""A wire between a client and a PostgreSQL server that breaks when it is told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from side_by_side.postgres_server import PostgresServer

LOST_QUESTION, LOST_ANSWER, LATE_QUESTION = "lost question", "lost answer", "late question"


class Wire:
    """Stands between a store and its server, counts what is asked, and breaks the connection when it is told to.

    The next time that ``mark`` is sent, the question is lost; or it arrives and the answer is lost; or it arrives
    late: after the connection broke, just before the same mark is sent again on another one. What happens
    ``meanwhile`` happens after the break, and before anybody is let in who was refused.
    """

    def __init__(self, folder: Path, server: PostgresServer) -> None:
        self._there = server.url().partition("host=")[2] + "/.s.PGSQL.5432"
        self._folder = folder
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / ".s.PGSQL.5432"))
        self._listening.listen()
        self.fault, self.mark, self.asked, self.refuses = "", b"", 0, False
        self.meanwhile: Callable[[], object] | None = None
        self._answered = threading.Event()
        self._late: tuple[socket.socket, bytes] | None = None
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, database: str) -> str:
        """Gives the address of a database behind the wire."""
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def arm(self, fault: str, mark: bytes) -> None:
        self.fault, self.mark = fault, mark
        self._answered.clear()

    def close(self) -> None:
        for one in (self._listening, *self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.refuses:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._there)
                self._sockets += [client, server]
                muted = threading.Event()
                threading.Thread(target=self._questions, args=(client, server, muted), daemon=True).start()
                threading.Thread(target=self._answers, args=(client, server, muted), daemon=True).start()

    def _questions(self, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 20):
                self.asked += 1
                if not self.mark or self.mark not in data:
                    server.sendall(data)
                elif self._late is not None:
                    old, question = self._late
                    self._late, self.mark = None, b""
                    with suppress(OSError):  # the server may have given the old connection up
                        old.sendall(question)
                    time.sleep(0.2)
                    server.sendall(data)
                else:
                    self._break(data, client, server, muted)
        if self._late is None or self._late[0] is not server:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)

    def _break(self, data: bytes, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        muted.set()
        if self.fault == LOST_ANSWER:
            server.sendall(data)
            self._answered.wait(30)
        if self.fault == LATE_QUESTION:
            self._late = server, data
        else:
            self.mark = b""
        client.shutdown(socket.SHUT_RDWR)
        if self.meanwhile is not None:
            self.meanwhile()
            self.refuses = False

    def _answers(self, client: socket.socket, server: socket.socket, muted: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 20):
                if muted.is_set():
                    self._answered.set()
                else:
                    client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
