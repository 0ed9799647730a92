"""Writing released rows from the executors of Spark: kept once, published as a whole. See `written_tables`.

*Kept.* Each task writes what it draws into a place of its own under ``_temporary`` of the staged folder, which has
rights for its owner alone. Spark's driver lets one attempt of each task commit (`OutputCommitCoordinator`), and the
committer (version 1) moves what that attempt wrote; when all tasks have, the job is committed and marked by
``_SUCCESS``, and what other attempts wrote is removed. The staged folder itself stays, empty, as long as the
application runs: a task that is late, of which nobody knows any more, could otherwise make it anew, with rights for
everybody. A job that breaks off leaves no mark, and is not gone on with.

*Published.* A second job reads the rows that were kept. It draws nothing: whichever attempts of it there are write the
same rows. They are divided by a hash of the released row into as many files as follow from the number of released rows,
and sorted in each. How tasks had divided the groups, which follows from exact numbers, is not told. The finished folder
is renamed into its place, with its document in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, final

from sfumato.entropy import system
from sfumato.errors import BadArgument, NotPublished, QueryRefused
from sfumato.query.engines.spark.quiet import quietly
from sfumato.query.engines.spark.session import is_remote
from sfumato.query.engines.spark.spreading import in_executors, workers_version
from sfumato.query.engines.written_tables import NOT_PUBLISHED, TableWriter, files_for
from sfumato.release.record import made_by
from sfumato.release.written import DOCUMENT

if TYPE_CHECKING:
    import pyarrow as pa

COMMITTED_ONCE = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    "mapreduce.fileoutputcommitter.cleanup-failures.ignored": "false",
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
}
"""How rows are kept: of each task what one attempt wrote, and all of them or none."""

COORDINATED = "spark.hadoop.outputCommitCoordination.enabled"
"""Whether Spark's driver lets one attempt of each task commit; whoever starts Spark can turn that off."""

PRIVATE = 0o700
FORMATS = {"parquet": "", "delta": "io.delta.sql.DeltaSparkSessionExtension"}
"""The formats, and the class without which Spark cannot write one."""


@final
class SparkTables(TableWriter):
    """Writes folders on any file system that a classic session of Spark writes to, and that keeps rights of files."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def place(self, to: str, form: str) -> str:
        if is_remote(self._session):
            raise QueryRefused(
                "Spark Connect reaches no files but through the server, so that no folder can be kept from others, and "
                "none renamed: open the data in a classic session to write a release as a table, or collect it with "
                "session.sql(…). Nothing was charged."
            )
        if str(self._session.sparkContext.getConf().get(COORDINATED, "true")).lower() != "true":
            raise QueryRefused(
                f"Spark was started with {COORDINATED} false: two attempts of one task could both be kept, each with "
                "noise of its own. Start it without. Nothing was charged."
            )
        if form not in FORMATS or not self._has(FORMATS[form]):
            raise BadArgument("format", "'parquet', or 'delta' in a session that was started with Delta", form)
        if not isinstance(to, str) or not to:
            raise BadArgument("to", "the path of a folder that is not there yet", to)
        self._refuse_workers()
        with quietly():
            return str(self._files(to).makeQualified(self._path(to)).toString())
        raise BadArgument("to", "the path of a folder on a file system that this session of Spark knows", to)

    def _refuse_workers(self) -> None:
        """Refuses Spark whose executors cannot run what finishes cells; asked of a row that is made up."""
        with quietly():
            asked = in_executors(self._session.range(1), workers_version, "version string")
            if [row.version for row in asked.collect()] == [made_by()]:
                return
        raise QueryRefused(
            f"the executors of Spark cannot add noise: their Python has not {made_by()}, as the driver has. Install it "
            "there, and name that Python (PYSPARK_PYTHON, or spark.pyspark.python) before Spark is started. Nothing "
            "was charged."
        )

    def is_taken(self, place: str) -> bool:
        with quietly():
            return bool(self._files(place).exists(self._path(place)))
        return True

    def stage(self, place: str) -> str:
        with quietly():
            path = self._path(place)
            name = f".{path.getName()}.{system().octets(8).hex()}.staged"
            staged, files = self._jvm.org.apache.hadoop.fs.Path(path.getParent(), name), self._files(place)
            rights = self._jvm.org.apache.hadoop.fs.permission.FsPermission(PRIVATE)
            files.mkdirs(path.getParent())
            if files.mkdirs(staged, rights):
                files.setPermission(staged, rights)
                if files.getFileStatus(staged).getPermission().toShort() == PRIVATE:
                    return str(staged.toString())
                files.delete(staged, True)
        must = "in a folder that can be written to, on a file system that keeps the rights of files (such as HDFS)"
        raise BadArgument("to", must, place)

    def keep(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema, staged: str) -> int:
        import pyarrow as pa

        table = pa.Table.from_batches(batches, schema)
        with quietly():
            return self.keep_frame(self._session.createDataFrame(table), staged)
        raise RuntimeError("Spark could not keep rows")

    def keep_frame(self, frame: Any, staged: str) -> int:
        """Writes the rows of a frame into a staged folder, in one job; returns their number."""
        frame.write.options(**COMMITTED_ONCE).parquet(f"{staged}/rows")
        return int(self._kept(staged).count())

    def is_kept(self, staged: str) -> bool:
        with quietly():
            return bool(staged) and bool(self._files(staged).exists(self._path(f"{staged}/rows/_SUCCESS")))
        return False

    def publish(self, staged: str, place: str, form: str, rows: int, document: str) -> None:
        with quietly():
            whole = f"{staged}/{system().octets(8).hex()}"
            kept = self._kept(staged)
            divided = kept.repartition(files_for(rows), *(kept[quoted(name)] for name in kept.columns))
            in_order = divided.sortWithinPartitions(*(kept[quoted(name)] for name in kept.columns))
            in_order.write.options(**COMMITTED_ONCE).format(form).save(whole)
            self._write(f"{whole}/{DOCUMENT}", document)
            fs = self._jvm.org.apache.hadoop.fs
            renaming = fs.FileContext.getFileContext(self._path(place).toUri(), self._configuration)
            never_over = self._session.sparkContext._gateway.new_array(fs.Options.Rename, 0)
            renaming.rename(self._path(whole), self._path(place), never_over)
            return
        raise NotPublished(NOT_PUBLISHED)

    def published(self, place: str) -> str | None:
        with quietly():
            stream = self._files(place).open(self._path(f"{place}/{DOCUMENT}"))
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()
        return None

    def discard(self, staged: str) -> None:
        with quietly():
            if staged:
                files, folder = self._files(staged), self._path(staged)
                for inside in files.listStatus(folder):
                    files.delete(inside.getPath(), True)
                files.deleteOnExit(folder)

    def _has(self, needed: str) -> bool:
        """Tells whether a class that a format needs is there."""
        return not needed or bool(self._jvm.org.apache.spark.util.Utils.classIsLoadable(needed))

    def _kept(self, staged: str) -> Any:
        return self._session.read.parquet(f"{staged}/rows")

    def _write(self, path: str, text: str) -> None:
        stream = self._files(path).create(self._path(path), False)
        try:
            stream.write(text.encode())
        finally:
            stream.close()

    @property
    def _jvm(self) -> Any:
        return self._session._jvm

    @property
    def _configuration(self) -> Any:
        return self._session._jsparkSession.sessionState().newHadoopConf()

    def _path(self, text: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(text)

    def _files(self, text: str) -> Any:
        """The file system of a path."""
        return self._path(text).getFileSystem(self._configuration)


def quoted(name: str) -> str:
    """The name of a column for a frame, whatever is in it."""
    return f"`{name.replace('`', '``')}`"
