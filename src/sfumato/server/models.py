"""What the API takes and answers, for its documentation; what comes in is checked by these, what leaves is not."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, final

from fastapi import Header, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from sfumato.service.asking import LONGEST_TEXT

Number: TypeAlias = Annotated[
    int | float | Annotated[str, Field(min_length=1, max_length=60)],
    Field(description="A number, or a text that is one and is read as it is written: 0.1 is a tenth, exactly."),
]
Scalar: TypeAlias = bool | int | float | Annotated[str, Field(max_length=10_000)] | None
Words: TypeAlias = Annotated[str, Field(min_length=1, max_length=2_000)]
Bound: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000)]
Named: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
DataSetName: TypeAlias = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$", description="The name of a data set.")
]
PersonName: TypeAlias = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$", description="Who it is.")]
EntryNumber: TypeAlias = Annotated[int, Path(ge=1, lt=1 << 62, description="The number of an entry of the book.")]
Place: TypeAlias = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9._-]{1,200}$", description="Where a secret is kept: its digest.")
]
Key: TypeAlias = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,200}$",
        description="A word of your own: with the same one nothing is paid twice.",
    ),
]
Cursor: TypeAlias = Annotated[
    str | None, Query(max_length=60, description="Where the list goes on: `next` of the page before.")
]
Many: TypeAlias = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


Stated: TypeAlias = Annotated[Number | None, Field(default=None)]


class Taken(BaseModel):
    """Something that comes in: nothing but what is named here, and nothing that is turned into something else."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class Given(BaseModel):
    """Something that is answered; later versions may add to it."""

    model_config = ConfigDict(extra="allow")


class LossBody(Taken):
    """A loss by its numbers: epsilon, epsilon and delta, rho, or mu."""

    epsilon: Stated
    delta: Stated
    rho: Stated
    mu: Stated


class KeyRows(Taken):
    """Keys of several columns, row by row."""

    columns: Annotated[list[Named], Field(min_length=1, max_length=50)]
    rows: Annotated[list[list[Scalar]], Field(max_length=100_000)]


@final
class QuestionBody(LossBody):
    """A question in SQL, and what is said besides it: what to pay or how near to come, bounds on each unit, keys."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"sql": "SELECT day, COUNT(*) AS n FROM visits GROUP BY day", "epsilon": "0.1", "max_groups": 3}
        }
    )

    sql: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
    parameters: (
        Annotated[list[Scalar], Field(max_length=100)] | Annotated[dict[str, Scalar], Field(max_length=100)] | None
    ) = None
    accuracy: (
        Annotated[list[Number], Field(min_length=2, max_length=2)]
        | Annotated[dict[str, Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(max_length=100)]
        | None
    ) = None
    max_groups: Bound | None = None
    max_rows_per_group: Bound | None = None
    max_rows: Bound | None = None
    max_matches: Bound | None = None
    keys: KeyRows | Annotated[dict[str, list[Scalar]], Field(min_length=1, max_length=50)] | None = None
    weights: Annotated[dict[str, Number], Field(max_length=100)] | None = None
    noise: Literal["laplace", "gaussian"] | dict[Literal["count", "sum"], Literal["laplace", "gaussian"]] | None = None
    confidence: Number | None = None


class SignInBody(Taken):
    """A name and a password."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    password: Annotated[str, Field(min_length=1, max_length=1_000)]


class Problem(Given):
    """Why something was refused (RFC 9457); never data."""

    type: str
    title: str
    status: int
    detail: str
    instance: str


class LossGiven(Given):
    """A loss for readers."""

    text: str
    kind: str


class ReleaseGiven(Given):
    """A release: value, error, price, who is protected, and how it was made."""

    value: Any
    half_width: Any
    confidence: float
    loss: str
    unit: str
    asked: str
    mechanism: str
    charged: bool


class ExplanationGiven(Given):
    """What a question would cost and how near its answer would come; ``exact`` is for programs."""

    fits: bool
    price: LossGiven
    left: LossGiven | None
    unit: str
    known: bool
    refusal: str | None
    exact: dict[str, Any]


class PageGiven(Given):
    """A page of a list; ``next`` is the cursor of the next one, null where there is no more."""

    items: list[Any]
    next: str | None


class DataSetGiven(Given):
    """A data set: which version questions are about, and what you may do with it."""

    name: str
    version: str
    codebook: str
    may: list[str]


@final
class RegisterBody(Taken):
    """Data to be registered: where it is, its codebook (as data, or as a text in YAML), its limit, its version."""

    source: Annotated[str, Field(min_length=1, max_length=4_000)] | dict[Named, Annotated[str, Field(max_length=4_000)]]
    codebook: Annotated[str, Field(max_length=1 << 20)] | dict[str, Any]
    limit: LossBody | Annotated[dict[Named, LossBody], Field(min_length=1, max_length=20)]
    version: Named = "1"
    period: Literal["day", "week", "month", "quarter", "year"] | None = None
    engine: Named | None = None


class CodebookBody(Taken):
    """A codebook, as data or as a text in YAML."""

    codebook: Annotated[str, Field(max_length=1 << 20)] | dict[str, Any]


class PublishBody(Taken):
    """What a published answer is called."""

    title: Annotated[str, Field(min_length=1, max_length=200)]


class ReasonBody(Taken):
    """Why something is done; it is written down for all to read."""

    reason: Words


class RequestBody(LossBody):
    """A request for a share of a limit, and what it is for."""

    purpose: Words


@final
class DecisionBody(Taken):
    """A decision on a request, and why; ``until`` is when the share ends (ISO 8601, with its time zone)."""

    grants: bool
    reason: Words
    until: Annotated[str, Field(max_length=40)] | None = None


@final
class ShareBody(LossBody):
    """A share that is opened without a request, and why."""

    reason: Words
    until: Annotated[str, Field(max_length=40)] | None = None
    period: Literal["day", "week", "month", "quarter", "year"] | None = None


class PolicyBody(Taken):
    """How many people must grant a share from now on, and why."""

    needed: Annotated[int, Field(ge=1, le=20)]
    reason: Words


@final
class ChecklistBody(Taken):
    """Which items of the checklist are mandatory; left out, those that are by default."""

    mandatory: Annotated[list[Named], Field(max_length=100)] | None = None


@final
class ItemBody(Taken):
    """What is said of an item: the evidence that settles it, or why it is open again, or who looks after it."""

    evidence: Words | None = None
    why: Words | None = None
    owner: Named | None = None


@final
class ReceiptBody(Taken):
    """A receipt that was kept elsewhere."""

    entry: Annotated[int, Field(ge=0, lt=1 << 62)]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    account: Annotated[str, Field(max_length=300)] = ""
    time: Annotated[str, Field(max_length=60)] = ""


@final
class VerifyBody(Taken):
    """Receipts that must be in the book as they were, and the public key that its checkpoints must bear."""

    receipts: Annotated[list[ReceiptBody], Field(max_length=1_000)] = []
    signer: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


@final
class GrantBody(Taken):
    """What somebody is, for a data set or for all of them (*)."""

    role: Literal["curator", "analyst", "budget owner", "auditor", "administrator"]
    data_set: Annotated[str, Field(pattern=r"^(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,62})$")] = "*"


class GrantsBody(Taken):
    """All that somebody is."""

    grants: Annotated[list[GrantBody], Field(max_length=200)]


class PersonBody(GrantsBody):
    """Somebody new."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")]


class LinkGiven(Given):
    """A one-time link: with it somebody chooses a password. Shown this once."""

    link: str
    until: str
