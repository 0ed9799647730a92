"""Uploads by programs: data files that curators send, as they are."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from sfumato.server.answering import written
from sfumato.server.calling import Calling
from sfumato.server.models import DataSetName, Given
from sfumato.server.openapi import problems
from sfumato.server.problems import Refused
from sfumato.server.uploading import FILE, take_in
from sfumato.service.people import Person
from sfumato.service.rights import Action

FileName = Annotated[str, Path(pattern=f"^{FILE}$", description="The name of the file.")]
OCTETS = "application/octet-stream"


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
    if request.headers.get("content-type", "").strip().lower().startswith("multipart/"):
        raise Refused(415, "Send the file itself as the body, not a form with the file in it.")

    def known(person: Person) -> Person:
        person.need(Action.REGISTER, data_set)
        return person

    made = await take_in(call.running, await call.run(known), data_set, file, request.stream())
    said: dict[str, Any] = {"source": str(made.place), "size": made.size}
    return written(said, 201)
