"""Sending: by TLS to the number that was checked, for the host that was named, to nobody else, and no further."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sfumato.service.sending import Sender, numbers_of
from sfumato.service.webhooks import Post


class Receiver(BaseHTTPRequestHandler):
    """Keeps what it is told, and sends whoever asks for it elsewhere."""

    told: ClassVar[list[tuple[str, str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.told.append((self.path, self.headers["Host"], body))
        self.send_response(302 if self.path == "/moved" else 204)
        self.send_header("Location", "https://127.0.0.1:1/")
        self.end_headers()

    def log_message(self, format: str, *words: object) -> None:
        """Says nothing."""


def certificate(folder: Path, host: str) -> Path:
    """Writes a key and a certificate that it signs itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(plain + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    file = certificate(tmp_path, "hooks.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    listening = HTTPServer(("127.0.0.1", 0), Receiver)
    listening.socket = context.wrap_socket(listening.socket, server_side=True)
    listening.handle_error = lambda *_: None  # type: ignore[method-assign, assignment]
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    Receiver.told.clear()
    yield int(listening.server_address[1]), file
    listening.shutdown()
    listening.server_close()


def post(port: int, path: str = "/in?room=7", host: str = "hooks.example") -> Post:
    return Post(f"https://{host}:{port}{path}", "127.0.0.1", b'{"event": "x"}', (("Sfumato-Signature", "s"),))


@pytest.fixture
def trusting(server: tuple[int, Path], monkeypatch: pytest.MonkeyPatch) -> int:
    """The port of a server whose certificate is trusted."""
    true_context = ssl.create_default_context
    monkeypatch.setattr(ssl, "create_default_context", lambda: true_context(cafile=str(server[1])))
    return server[0]


def test_a_message_arrives_at_the_number_under_the_name(trusting: int) -> None:
    assert Sender()(post(trusting)) == 204
    assert Receiver.told == [("/in?room=7", f"hooks.example:{trusting}", b'{"event": "x"}')]


def test_a_redirect_is_not_followed(trusting: int) -> None:
    assert Sender()(post(trusting, "/moved")) == 302
    assert len(Receiver.told) == 1


def test_a_server_of_another_name_is_told_nothing(trusting: int) -> None:
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        Sender()(post(trusting, host="other.example"))
    assert Receiver.told == []


def test_a_server_that_nobody_vouches_for_is_told_nothing(server: tuple[int, Path]) -> None:
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        Sender()(post(server[0]))
    assert Receiver.told == []


def test_the_numbers_of_a_host_are_looked_up() -> None:
    assert "127.0.0.1" in numbers_of("localhost", 443)
