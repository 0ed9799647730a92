"""Breaks Spark while a release is written, for `test_killed_spark`: workers, executors, doubled tasks, drivers.

Run as a program, with the master to start, a folder, and what is to break. Every attempt to draw a part writes down
what it drew, so that what is published can be held against it. Prints one line of JSON. The classes here are those of
the program that runs, and so are sent to executors as they stand.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
from pyspark import TaskContext
from pyspark.sql import SparkSession

import sfumato as sf
from sfumato.errors import NotPublished, PermitUsed, RunFailed
from sfumato.query.engines.protocol import Finish
from sfumato.query.engines.spark import engine, spreading
from sfumato.query.engines.spark.opening import Spark
from sfumato.query.engines.spark.tables import SparkTables
from sfumato.query.plan.engine_plan import Cells, Computed

GROUPS = 40
LATE = 1.0
"""Seconds by which an attempt is late; after two more Spark would kill what it has given up."""
LONGEST = 120.0
ROWS = {"u": [f"{at}" for at in range(100 * GROUPS)], "page": [f"p{at % GROUPS:02}" for at in range(100 * GROUPS)]}
ASKED = "SELECT page, COUNT(*) AS n FROM visits GROUP BY page"
PAID: dict[str, Any] = {"epsilon": 2, "delta": "1e-6", "max_groups": 1, "max_rows_per_group": 1, "key": "monday"}
SETTINGS = {
    "spark.driver.memory": "700m",
    "spark.executor.memory": "600m",
    "spark.log.level": "OFF",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.speculation": "true",
    "spark.speculation.efficiency.enabled": "false",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.25",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


HOSTS = ("127.0.0.2", "127.0.0.3")
"""Where workers of a cluster run: Spark doubles no task on the host that it runs on, so each has a name."""

CLUSTER = {
    "spark.cores.max": str(len(HOSTS)),
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.cores": "1",
}


class Breaking:
    """Finishes cells, writes down what was drawn, and breaks the first attempt of one part; or every attempt.

    An attempt that is only slow waits until its double has drawn as well: then both go on, one of them perhaps late.
    """

    def __init__(self, finish: Finish, folder: Path, fault: str) -> None:
        self._finish, self._folder, self._fault = finish, folder, fault

    @property
    def schema(self) -> pa.Schema:
        return self._finish.schema

    def __call__(self, computed: Computed) -> pa.RecordBatch:
        batch, task = self._finish(computed), TaskContext.get()
        assert task is not None
        name = f"{task.partitionId()}-{task.taskAttemptId()}"
        (self._folder / "drawn" / name).write_text(json.dumps(batch.to_pydict()))
        if self._fault == "always" or self._is_first(task.partitionId()):
            self._break()
        return batch

    def _is_first(self, part: int) -> bool:
        """Tells whether this is the first attempt of the first part that is drawn."""
        try:
            os.close(os.open(self._folder / "broken", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return bool(self._fault) and part >= 0

    def _break(self) -> None:
        match self._fault:
            case "worker" | "always":
                os.kill(os.getpid(), signal.SIGKILL)
            case "executor":
                daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
                os.kill(int(daemon[1]), signal.SIGKILL)
            case "slow" | "late":
                self._wait()

    def _wait(self) -> None:
        """Waits until another attempt has drawn the same part; a late one also until that could be committed."""
        task = TaskContext.get()
        assert task is not None
        begun = time.monotonic()
        while len([*(self._folder / "drawn").glob(f"{task.partitionId()}-*")]) < 2:
            if time.monotonic() - begun > LONGEST:
                raise RuntimeError("Spark does not double the task")
            time.sleep(0.02)
        time.sleep(LATE if self._fault == "late" else 0)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Starts a master of Spark and a worker on each host, all of this machine; stops them afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address, deploy = f"spark://127.0.0.1:{port}", "org.apache.spark.deploy"
    commands = [[f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0"]]
    for host in HOSTS:
        given = ["--host", host, "--cores", "1", "--memory", "700m", "--webui-port", "0"]
        commands.append([f"{deploy}.worker.Worker", *given, "--work-dir", str(folder / "local" / host), address])
    bound = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    with ExitStack() as stack:
        for command in commands:
            program = [*bound, f"{os.environ['SPARK_HOME']}/bin/spark-class", *command]
            running = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(running.wait)
            stack.callback(running.terminate)
        yield address


def started(master: str, folder: Path) -> SparkSession:
    """Starts Spark."""
    builder = SparkSession.builder.master(master)
    for name, setting in {**SETTINGS, **(CLUSTER if master.startswith("spark://") else {})}.items():
        builder = builder.config(name, setting)
    return builder.config("spark.local.dir", str(folder / "local")).getOrCreate()


def told(folder: Path, spark: SparkSession) -> dict[str, Any]:
    """Asks, and says what came of it."""
    data = sf.Dataset({"visits": pa.table(ROWS)}, unit="u", name="visits", version="spring", engine=Spark(spark))
    session = data.session(limit=sf.Approx(20, "1e-4"), ledger=folder / "book.db")
    rows, ended = None, "written"
    try:
        release = session.write(ASKED, to=str(folder / "out"), **PAID)
        rows = sf.release.read_release(folder / "out").value.open().to_table().to_pydict()
        assert release.value.rows == len(rows["page"])
    except (PermitUsed, RunFailed, NotPublished) as error:
        ended = type(error).__name__
    return {"ended": ended, "rows": rows, "spent": int(session.spent.epsilon)}


def drawn(folder: Path) -> dict[str, list[Any]]:
    """What each attempt drew, by its part."""
    found: dict[str, list[Any]] = {}
    for path in sorted((folder / "drawn").iterdir()):
        found.setdefault(path.name.partition("-")[0], []).append(json.loads(path.read_text()))
    return found


def emptied(folder: Path) -> bool:
    """Tells whether a folder is a staged one that nothing is in any more, and that nobody else can look into."""
    return folder.name.endswith(".staged") and not os.listdir(folder) and folder.stat().st_mode & 0o777 == 0o700


def dying(call: Callable[..., Any]) -> Callable[..., Any]:
    """A step after which this process is gone."""

    def die(*given: Any) -> None:
        call(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


def main(master: str, folder: Path, fault: str) -> None:
    """Starts what is to be asked, if need be, and asks."""
    for name in ("drawn", "local"):
        (folder / name).mkdir(exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = pyspark.__path__[0]
    with ExitStack() as stack:
        ask(stack.enter_context(cluster(folder)) if master == "cluster" else master, folder, fault)


def ask(master: str, folder: Path, fault: str) -> None:
    """Asks while something breaks, and once more."""
    spark, over = started(master, folder), spreading.spread_over

    def broken_over(frame: Any, cells: Cells, finish: Finish) -> Any:
        return over(frame, cells, Breaking(finish, folder, fault))

    setattr(engine, "spread_over", broken_over)  # noqa: B010  # which it imports
    if fault == "driver before the book":
        SparkTables.keep_frame = dying(SparkTables.keep_frame)  # type: ignore[method-assign]
    if fault == "driver after the book":
        SparkTables.publish = dying(lambda *_: None)  # type: ignore[method-assign]
    if fault == "driver after the table":
        SparkTables.publish = dying(SparkTables.publish)  # type: ignore[method-assign]
    first = told(folder, spark)
    setattr(engine, "spread_over", over)  # noqa: B010
    second = told(folder, spark)
    names = [
        name for name in sorted(os.listdir(folder)) if not name.startswith("book.db") and not emptied(folder / name)
    ]
    found = {"first": first, "second": second, "drawn": drawn(folder), "names": names}
    sys.stdout.write(json.dumps(found) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
