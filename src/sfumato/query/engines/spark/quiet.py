"""Silence around Spark: what it says may quote rows, in the text of an exception and in what pyspark logs of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where pyspark writes the text of every exception that comes from Spark, on the standard error."""


@contextmanager
def quietly() -> Iterator[list[bool]]:
    """Runs something of Spark. Whatever it raises ends the block, is dropped, and is told by the list being filled."""
    failed: list[bool] = []
    with _unlogged():
        try:
            yield failed
        except Exception:  # of py4j, of pyspark, of gRPC, of sockets: all of them quote what a row holds
            failed.append(True)


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keeps what this thread logs out of pyspark's loggers of exceptions."""
    from pyspark.logger import PySparkLogger

    thread = get_ident()

    def others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addFilter(others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(others)
