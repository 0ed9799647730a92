"""Sends what webhooks are told over the network: to the number that was checked, by TLS for the host that was named."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final
from urllib.parse import urlsplit

from sfumato.service.webhooks import Post

MOST_READ = 1024


def numbers_of(host: str, port: int) -> Iterable[str]:
    """Finds the numbers of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@final
@dataclass(frozen=True)
class Sender:
    """Sends messages; follows no redirect, goes through no proxy, and reads next to nothing of the answer."""

    timeout: float = 10.0

    def __call__(self, post: Post) -> int:
        """Sends one message, and gives the status of the answer."""
        parts = urlsplit(post.address)
        host, port = parts.hostname or "", parts.port or 443
        plain = socket.create_connection((post.number, port), timeout=self.timeout)
        try:
            secure = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise
        connection = http.client.HTTPSConnection(host, port, timeout=self.timeout)
        connection.sock = secure  # connected already: the name is not looked up a second time
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, body=post.body, headers=dict(post.headers))
            answer = connection.getresponse()
            answer.read(MOST_READ)
            return answer.status
        except http.client.HTTPException as fault:
            why = type(fault).__name__
        finally:
            connection.close()
        raise OSError(why)
