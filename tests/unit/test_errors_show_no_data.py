"""What goes wrong says what a thing is, and never what is in it: every public door is fed data, of every form."""

from __future__ import annotations

import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.examples.public import MODULES

import sfumato as sf
from sfumato.errors import BadArgument, SfumatoError, shown

MARKER, NUMBER = "zz-marker-7351", 735_173_517
SAID = (MARKER, str(NUMBER), "735173517", "7.35e+08")


def columns() -> dict[str, list[object]]:
    return {"name": [MARKER, "b"], "number": [NUMBER, 2]}


def forms() -> dict[str, object]:
    """Gives data as people have it."""
    made: dict[str, object] = {
        "texts": [MARKER, "b", "c"],
        "numbers": [NUMBER, 1, 2],
        "floats": (float(NUMBER), float("nan")),
        "columns": columns(),
        "rows": [{"name": MARKER, "number": NUMBER}],
        "array": np.array([NUMBER, 1, 2]),
        "objects": np.array([MARKER, None], dtype=object),
        "matrix": np.array([[NUMBER, 1.0], [2.0, 3.0]]),
        "bytes": MARKER.encode(),
        "text": f"name,number\n{MARKER},{NUMBER}\n",
        "set": {MARKER, NUMBER},
        "arrow": pa.table(columns()),
        "nested": {"rows": [[MARKER, NUMBER]], MARKER: {MARKER: NUMBER}},
    }
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(columns())
    return made | {"frame": frame, "series": frame["name"], "polars": polars.DataFrame(columns())}


def told(error: BaseException) -> str:
    """Gives all that an error says or carries, and those that it came of, where they are shown."""
    said = []
    while error is not None:
        said += [str(error), repr(error), repr(error.args), repr(vars(error)), repr(getattr(error, "__notes__", ""))]
        said += [repr(getattr(error, name, "")) for name in ("object", "doc")]  # of a text that cannot be read
        if isinstance(error, SfumatoError):
            said.append(repr(pickle.dumps(error)))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)  # type: ignore[assignment]
    return "\n".join(said)


def doors() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Gives everything public that can be called: functions, classes, and what reads in classes."""
    homes: dict[str, Any] = {
        "sf": sf,
        **{f"sf.{name}": getattr(sf, name) for name in ("stats", "ledger", "audit", "events", *MODULES)},
    }
    for home, module in homes.items():
        names = getattr(module, "__all__", None) or [n for n in dir(module) if n[0].isupper()]
        for name in names:
            found = getattr(module, name, None)
            if name.startswith("_") or isinstance(found, types.ModuleType) or not callable(found):
                continue
            if inspect.isclass(found) and issubclass(found, BaseException | Enum):
                continue
            yield f"{home}.{name}", found
            if inspect.isclass(found):
                makers = {n: m for n, m in vars(found).items() if isinstance(m, classmethod | staticmethod)}
                yield from ((f"{home}.{name}.{n}", getattr(found, n)) for n in makers if not n.startswith("_"))


SLOW = ("demo", "peers")
DOORS = {name: door for name, door in doors() if not any(word in name for word in SLOW)}


def calls(door: Callable[..., Any], given: object) -> Iterator[Callable[[], object]]:
    """Gives the calls in which one argument is data: the first, all that must be there, or one by its name."""
    yield lambda: door(given)
    try:
        parameters = inspect.signature(door).parameters
    except (TypeError, ValueError):
        return
    needed = [
        p
        for p in parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    yield lambda: door(*[given for _ in needed])
    named = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY and p.name not in ("progress", "entropy")]
    for name in named:
        yield lambda name=name: door(*[given for _ in needed], **{name: given})  # type: ignore[misc]


@pytest.mark.parametrize("form", forms())
def test_no_public_door_repeats_what_it_was_given(form: str, tmp_path: Path) -> None:
    found = {}
    for name, door in DOORS.items():
        for place, call in enumerate(calls(door, forms()[form])):
            try:
                made = call()
                if isinstance(made, sf.Partial):
                    sf.vector(float) >> made
            except SfumatoError as error:
                if any(word in told(error) for word in SAID):
                    found[name, place] = f"{type(error).__name__}: {error}"[:300]
            except Exception:  # of Python itself, or of whoever made the data: it is not ours to word
                continue
    assert found == {} and not list(tmp_path.iterdir())


SPACES: list[Callable[[Any], object]] = [
    lambda data: sf.vector(data),
    lambda data: sf.vector(float, between=data),
    lambda data: sf.frame(data),
    lambda data: sf.clamp(data, 1),
    lambda data: sf.vector(float) >> sf.clamp(0, 1) >> sf.sum() >> sf.laplace(data),
    lambda data: sf.Dataset(data, name="x", space=sf.vector(bool)),
    lambda data: sf.Dataset([1], name=data, space=sf.vector(int)),
    lambda data: sf.Dataset(data, name="x", codebook=data),
    lambda data: sf.Dataset([1], name="x", space=sf.vector(int), unit=data),
    lambda data: sf.Dataset([1], name="x", space=sf.vector(int), version=data),
    lambda data: sf.Dataset([1], name="x", space=sf.vector(int)).session(limit=data, ledger="memory:"),
    lambda data: sf.Dataset([1], name="x", space=sf.vector(int)).session(limit=sf.Pure(1), ledger=data),
    lambda data: sf.Pure(data),
    lambda data: sf.KeySet.of(x=data),
    lambda data: sf.Codebook.read(data),
    lambda data: sf.Codebook.read_smartnoise(data),
    lambda data: (sf.vector(float) >> sf.count() >> sf.laplace(1))(data),
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some doors take a text for the path of a file to make."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("place", range(len(SPACES)))
def test_the_commonest_slips_show_nothing(place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a text is taken for the address of a ledger, which is made
    for form, given in forms().items():
        try:
            SPACES[place](given)
        except Exception as error:
            assert not any(word in told(error) for word in SAID), (form, str(error))


def asked() -> dict[str, object]:
    """Gives what people hold while they ask: one of each kind."""
    data = sf.Dataset(
        {"visits": pa.table({"user_id": [1, 2], "minutes": [1.0, 2.0]})},
        codebook={
            "codebook": 1,
            "title": "Visits",
            "unit": {"protects": "a person", "id": "user_id"},
            "tables": {"visits": {"columns": {"user_id": {"type": "int"}, "minutes": {"type": "float"}}}},
        },
    )
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    table = session.table()
    return {
        "a data set": data,
        "a session": session,
        "a ledger": session.ledger,
        "a table": table,
        "groups": table.group_by("minutes"),
        "a query": table.agg(n=sf.count_rows()),
        "a column": table.minutes,
        "a measurement": sf.vector(float) >> sf.count() >> sf.laplace(scale=1),
        "a codebook": data.codebook,
        "an explanation": session.explain("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(1), max_rows_per_group=1),
    }


ENDING = ("close", "close_account", "listed", "imported")
"""What ends a thing, and what takes names that were read before."""
SYMBOLS = ("__getitem__", "__call__", "__contains__", "__gt__", "__add__", "__and__", "__rshift__")


def test_no_method_repeats_what_it_was_given() -> None:
    """Names of columns and accounts are typed, and shown; a text of several lines, or anything else, is no name."""
    given, found = forms(), {}
    del given["texts"]  # a list of names, for all that anybody can tell
    for kind, thing in asked().items():
        public = {name for name in dir(type(thing)) if not name.startswith("_")} - set(ENDING)
        for name in public.union(SYMBOLS).intersection(dir(type(thing))):
            method = getattr(thing, name) if callable(getattr(type(thing), name)) else None
            for form in given if method is not None else ():
                for place, call in enumerate(calls(method, given[form])):
                    try:
                        call()
                    except SfumatoError as error:
                        if any(word in told(error) for word in SAID):
                            found[kind, name, form, place] = str(error)[:300]
                    except Exception:  # of Python itself: it is not ours to word
                        continue
    assert found == {}


MAKERS: dict[str, Callable[[Any], object]] = {
    "a ledger": lambda path: sf.Ledger.open(path),
    "its address": lambda path: sf.Ledger.open(f"sqlite:///{path}"),
    "of a session": lambda path: sf.Dataset([1], name="x", space=sf.vector(int)).session(limit=sf.Pure(1), ledger=path),
    "a register": lambda path: sf.ledger.Register(path, key=sf.ledger.Register.new_key(), limit=sf.Pure(1)),
    "a book": lambda path: sf.Ledger.open("memory:").export(path),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("sign", ["\n", "\t", "\0", "\r", "\x7f"], ids=ascii)
def test_no_file_is_named_by_what_is_in_one(maker: str, sign: str, tmp_path: Path) -> None:
    """A file by that name would show data to whoever lists the folder."""
    given = f"name,number{sign}{MARKER},{NUMBER}{sign}"
    for said in (given, Path(given)):
        with pytest.raises(BadArgument, match="one line without tabs") as refused:
            MAKERS[maker](said)
        assert not any(word in told(refused.value) for word in SAID)
    assert not list(tmp_path.iterdir())


FILES = {
    "p.csv": f"ssn,hiv\n{MARKER},1\n{NUMBER},0\n",
    "p.yaml": f"people:\n  - {MARKER}: {NUMBER}\n    {MARKER}: 2\n",
    "twice.yaml": f"{MARKER}: {NUMBER}\n{MARKER}: 2\n",
    "broken.yaml": f"a: [{MARKER}, {NUMBER}\n{MARKER}: : :\n",
    "tag.yaml": f"a: !{MARKER} {NUMBER}\n",
    "alias.yaml": f"a: *{MARKER}\n",
    "handle.yaml": f"a: !{MARKER}!x {NUMBER}\n",
    "p.json": f'[{{"name": "{MARKER}", "n": {NUMBER}}}]',
    "p.jsonl": f'{{"name": "{MARKER}", "n": {NUMBER}}}\n{{"name": "{MARKER}", "n": 2}}\n',
    "twice.json": f'{{"{MARKER}": {NUMBER}, "{MARKER}": 2}}',
    "deep.json": f'{{"a": {{"{MARKER}": {{"{NUMBER}": {{"{MARKER}": {NUMBER}}}}}}}}}',
    "one line.csv": f"{MARKER};{NUMBER}",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_codebook_is_not_quoted(name: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    from sfumato.cli.main import main

    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    readers: list[Callable[[], object]] = [
        lambda: sf.Codebook.read(path),
        lambda: sf.Codebook.read(str(path)),
        lambda: sf.Codebook.read_smartnoise(path),
        lambda: sf.Dataset([1], name="x", codebook=path),
        lambda: sf.Codebook.read(FILES[name] + "\n"),
    ]
    for read in readers:
        with pytest.raises(SfumatoError) as refused:
            read()
        assert not any(word in told(refused.value) for word in SAID), str(refused.value)
    for command in (("check", name), ("smartnoise", name), ("check", name, name)):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["sfumato", "codebook", *command])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert left.value.code == 3 and not any(word in out + err for word in SAID), err


def test_a_file_that_is_no_text_is_not_carried_along(tmp_path: Path) -> None:
    path = tmp_path / "p.bin"
    path.write_bytes(MARKER.encode() + b"\xff\xfe")
    with pytest.raises(BadArgument) as refused:
        sf.Codebook.read(path)
    assert MARKER not in told(refused.value)
    assert refused.value.__cause__ is None and refused.value.__context__ is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("age", "'age'"),
        ("x" * 61, "a text of 61 characters"),
        ("a\nb", "a text of 3 characters"),
        (10**61, "a number of 62 digits"),
        (10**9999, "a number of many digits"),
        (np.float32(0.5), "0.5"),
        (np.int8(3), "3"),
        (b"abc", "3 bytes"),
        ([1, 2], "a list of 2"),
        ({}, "a dict of 0"),
        (range(3), "a range"),
        (np.zeros(3), "a numpy ndarray"),
        (object(), "an object"),
        (len, "a function"),
        (lambda: 0, "a function"),
        (sf.Pure(1), "Pure(epsilon=1.0)"),
        (float, "float"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "value",
)
def test_what_is_shown_of_a_value(value: object, text: str) -> None:
    assert shown(value) == text
    assert BadArgument("x", "y", value).got == text


def test_what_was_typed_side_by_side_is_shown_so() -> None:
    from sfumato.errors import Several, elements

    assert shown(Several(1, None, [2])) == "(1, None, a list of 1)"
    with pytest.raises(BadArgument, match="x must be y; got something else") as refused, elements():
        raise BadArgument("x", "y", MARKER)
    assert MARKER not in told(refused.value)
