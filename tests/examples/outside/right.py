"""What somebody writes who uses sfumato and checks types strictly."""

from __future__ import annotations

import sfumato as sf


def mean_age(ages: list[float | None]) -> float:
    release: sf.Release = sf.dp.mean(ages, between=(0, 120), epsilon=1)
    return float(release)


def visits(path: str) -> list[int]:
    data = sf.Dataset(path, unit=sf.Person("user_id"), between={"minutes": (0, 120)})
    with data.session(epsilon=1, delta=1e-6, ledger="memory:") as session:
        plan = session.explain("SELECT COUNT(*) AS n FROM visits", epsilon=0.5, max_rows=3)
        assert plan.fits, plan.price
        release = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5, max_rows=3)
        frame = release.to_polars(intervals=True)
        return list(frame["n"].to_list())


def chain(values: list[float]) -> float:
    measurement = sf.vector(float) >> sf.clamp(0, 100) >> sf.sum() >> sf.laplace(scale=100)
    loss: sf.Loss = measurement.map(1)
    assert loss == sf.Pure(1)
    return float(measurement(values))


def budget() -> sf.Loss:
    report = sf.account(sf.events.Repeat(sf.events.Gaussian(scale=30), 100), delta=1e-6)
    parts = sf.split(sf.Pure(1), {"a": 1, "b": 2})
    return parts["a"] if report.epsilon < 1 else parts["b"]


def product(session: sf.Session) -> int:
    top = sf.templates.TopList("visits", "site", most=3, bounds={"max_rows": 1})
    return len(top.release(session, loss=sf.Approx(1, 1e-7)).to_polars())
