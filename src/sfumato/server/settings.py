"""How a server behaves: addresses, limits on what comes in, time classes. Values only; who reads them from where is
elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.service.asking import LOSSES, loss_from
from sfumato.service.settings import Settings

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

TIME_CLASSES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
"""Seconds after which an answer leaves: of a question that took longer than one of them, at the next."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@final
@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The most of everything that may come in; whatever is larger is refused before it is looked at.

    ``unpacked`` is what an upload may come to when it is read, and ``unpacked_times`` how many times its own size.
    """

    body: int = 1 << 20
    upload: int = 4 << 30
    uploads_in_all: int = 64 << 30
    unpacked: int = 32 << 30
    unpacked_times: int = 1_000
    depth: int = 32
    digits: int = 400
    parameters: int = 100
    page: int = 200


@final
@dataclass(frozen=True, kw_only=True)
class Rates:
    """How often somebody may ask: so many at once, and so many a second for good."""

    person_burst: int = 200
    person_second: float = 100.0
    address_burst: int = 400
    address_second: float = 200.0
    sign_ins: int = 10
    sign_in_delay: float = 1.0
    sign_in_longest: float = 900.0


@final
@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Everything that a server is told. ``origin`` is how browsers call it, such as ``https://dp.example.org``.

    The PostgreSQL port has host and certificate of its own, where they are said, or else those of HTTP. ``usual_loss``
    is what a question there costs where nothing else is said. ``several`` tells that other processes of this server
    have the same ports.
    """

    host: str = "127.0.0.1"
    port: int = 8470
    origin: str = ""
    behind_proxy: bool = False
    certificate: Path | None = None
    private_key: Path | None = None
    trusted_proxies: tuple[Network, ...] = ()
    identity_header: str = ""
    uploads: Path | None = None
    threads: int = 16
    question_threads: int = 8
    password_threads: int = 2
    waiting: int = 512
    patience: float = 120.0
    time_classes: tuple[float, ...] = TIME_CLASSES
    metrics_port: int | None = None
    pg_port: int = 0
    pg_host: str = ""
    pg_certificate: Path | None = None
    pg_private_key: Path | None = None
    usual_loss: Mapping[str, str] = field(default_factory=dict)
    several: bool = False
    works: bool = True
    visit_lasts: timedelta = timedelta(hours=12)
    sizes: Sizes = field(default_factory=Sizes)
    rates: Rates = field(default_factory=Rates)

    def __post_init__(self) -> None:
        if self.identity_header and not self.trusted_proxies:
            must = "said together with trusted_proxies: anybody else could send it"
            raise BadArgument("identity_header", must, self.identity_header)
        if not self.secure and self.host not in LOOPBACK:
            must = "a loopback address, unless there is a certificate, or a proxy that has one (behind_proxy)"
            raise BadArgument("host", must, self.host)
        if self.pg_port and self.pg_tls is None and self.pg_address not in LOOPBACK:
            must = "left out, or together with a certificate: answers would be read on the way, by a proxy too"
            raise BadArgument("pg_port", must, self.pg_port)
        if self.usual_loss and (set(self.usual_loss) - set(LOSSES) or loss_from(self.usual_loss) is None):
            raise BadArgument("usual_loss", f"of {', '.join(LOSSES)}", sorted(self.usual_loss))
        if list(self.time_classes) != sorted(set(self.time_classes)) or not self.time_classes:
            raise BadArgument("time_classes", "seconds, each more than the one before", self.time_classes)

    @staticmethod
    def of(settings: Settings, **over: Any) -> ServerSettings:
        """What settings of a service say of its server; ``over`` has the last word."""
        many = settings.requests_per_minute
        said: dict[str, Any] = {
            "host": settings.host,
            "port": settings.port,
            "origin": settings.public_address.rstrip("/"),
            "behind_proxy": settings.behind_proxy,
            "certificate": settings.certificate_file,
            "private_key": settings.certificate_key_file,
            "trusted_proxies": tuple(_network(one) for one in settings.proxy_addresses),
            "identity_header": settings.proxy_person_header,
            "threads": settings.threads,
            "question_threads": settings.threads,
            "patience": settings.longest_request,
            "uploads": settings.upload_folder,
            "pg_port": settings.pg_port,
            "pg_host": settings.pg_host,
            "pg_certificate": settings.pg_certificate_file,
            "pg_private_key": settings.pg_certificate_key_file,
            "usual_loss": settings.usual_loss,
            "visit_lasts": timedelta(seconds=settings.visit_lasts),
            "sizes": Sizes(body=settings.largest_upload, depth=settings.deepest_json),
            "rates": Rates(
                person_burst=max(20, many // 4),
                person_second=many / 60,
                address_burst=max(200, 4 * many),
                address_second=40 * many / 60,
                sign_ins=settings.sign_ins_per_minute,
            ),
        }
        return ServerSettings(**(said | over))

    @property
    def tls(self) -> bool:
        """Tells whether this server itself has a certificate."""
        return self.certificate is not None

    @property
    def pg_address(self) -> str:
        """Where the PostgreSQL port is: its own host, or that of HTTP."""
        return self.pg_host or self.host

    @property
    def pg_tls(self) -> tuple[Path, Path] | None:
        """The certificate of the PostgreSQL port and its key: its own, or those of HTTP; None where there is none."""
        for certificate, key in ((self.pg_certificate, self.pg_private_key), (self.certificate, self.private_key)):
            if certificate is not None and key is not None:
                return certificate, key
        return None

    @property
    def secure(self) -> bool:
        """Tells whether browsers reach it by TLS, its own or that of a proxy."""
        return self.tls or self.behind_proxy

    @property
    def address(self) -> str:
        """How browsers call it: the origin that was stated, or what follows from host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.origin or f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    def trusts(self, peer: str) -> bool:
        """Tells whether what a peer says of others is believed: it is a proxy of ours."""
        if not self.trusted_proxies:
            return False
        try:
            there = ip_address(peer)
        except ValueError:
            return False
        return any(there in network for network in self.trusted_proxies)


def _network(text: str) -> Network:
    """Reads an address, or a network of them."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        pass
    raise BadArgument("proxy_addresses", "addresses such as 10.0.0.7, or networks such as 10.0.0.0/24", text)
