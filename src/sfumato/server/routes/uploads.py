"""Uploads: data files that curators send. They are written as they come, looked at from outside, and never unpacked."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response

from sfumato.entropy import system
from sfumato.query.engines.parquet_sizes import unpacked_size
from sfumato.server.answering import written
from sfumato.server.calling import Calling
from sfumato.server.models import DataSetName, Given
from sfumato.server.openapi import problems
from sfumato.server.problems import Refused
from sfumato.server.running import Running
from sfumato.server.settings import Sizes
from sfumato.service.people import Person
from sfumato.service.rights import Action

FileName = Annotated[
    str, InPath(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,80}\.(csv|parquet)$", description="The name of the file.")
]
OCTETS = "application/octet-stream"
MAGIC, LARGEST_FOOTER = b"PAR1", 16 << 20
UNFINISHED = ".unfinished-"
SMALL = 64 << 20
"""Octets that any file may come to."""


def router() -> APIRouter:
    """The route of uploads."""
    routes = APIRouter(prefix="/api/uploads", tags=["data sets"])
    routes.add_api_route(
        "/{data_set}/{file}",
        upload,
        methods=["PUT"],
        response_model=Given,
        status_code=201,
        responses=problems(409),
        openapi_extra={
            "requestBody": {"content": {OCTETS: {"schema": {"type": "string", "format": "binary"}}}, "required": True}
        },
    )
    return routes


async def upload(call: Calling, request: Request, data_set: DataSetName, file: FileName) -> Response:
    """Takes a CSV or Parquet file for a data set, and says under which source it can be registered."""
    running = call.running
    if request.headers.get("content-type", "").strip().lower().startswith("multipart/"):
        raise Refused(415, "Send the file itself as the body, not a form with the file in it.")

    def begin(person: Person) -> tuple[BinaryIO, Path, Path]:
        person.need(Action.REGISTER, data_set)
        return _begun(running, data_set, file)

    open_file, unfinished, target = await call.run(begin)
    size = 0
    try:
        with open_file:
            async for octets in request.stream():
                size += len(octets)
                await running.quick.run(lambda octets=octets: open_file.write(octets))  # type: ignore[misc]
        await running.quick.run(lambda: _finish(unfinished, target, running.settings.sizes))
    finally:
        with suppress(OSError):
            unfinished.unlink()
    made: dict[str, Any] = {"source": str(target), "size": size}
    return written(made, 201)


def _begun(running: Running, data_set: str, file: str) -> tuple[BinaryIO, Path, Path]:
    folder, sizes = running.settings.uploads, running.settings.sizes
    if folder is None:
        raise Refused(403, "This service takes no uploads: its settings name no folder for them.")
    target = folder / data_set / file
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if target.exists():
            raise Refused(409, "There is a file of this name already: data that was registered does not change.")
        if sum(one.stat().st_size for one in folder.glob("*/*")) > sizes.uploads_in_all:
            raise Refused(413, "There is no more room for uploads.")
        unfinished = target.with_name(UNFINISHED + system().octets(8).hex())
        return os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"), unfinished, target
    except OSError:
        pass
    raise Refused(503, "The upload cannot be written.")


def _finish(unfinished: Path, target: Path, sizes: Sizes) -> None:
    """Looks at the file from outside, and gives it its name; a name that was taken meanwhile stays what it was."""
    if target.suffix == ".parquet":
        _check_parquet(unfinished, sizes)
    try:
        os.link(unfinished, target)
        return
    except FileExistsError:
        status, why = 409, "There is a file of this name already: data that was registered does not change."
    except OSError:
        status, why = 503, "The upload cannot be written."
    raise Refused(status, why)


def _check_parquet(file: Path, sizes: Sizes) -> None:
    """Refuses what is no Parquet file, or says that it holds much more than it has octets for."""
    size = file.stat().st_size
    with file.open("rb") as octets:
        begins = octets.read(4)
        octets.seek(max(0, size - 8))
        ends = octets.read(8)
    right = size >= 12 and begins == MAGIC and ends[4:] == MAGIC
    if not right or not 0 < struct.unpack("<I", ends[:4])[0] <= min(LARGEST_FOOTER, size - 12):
        raise Refused(422, "This is no Parquet file, or its footer is too large.")
    unpacked = unpacked_size(file)
    if unpacked is None:
        raise Refused(422, "This is no Parquet file: its footer cannot be read.")
    if unpacked > min(sizes.unpacked, max(SMALL, sizes.unpacked_times * size)):
        raise Refused(413, "The file is packed too tightly: it holds much more than its size, or more than is taken.")
