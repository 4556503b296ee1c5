"""Searches of Spark: the answer of kith.search, whatever the partitions, and if an executor is killed."""

import os
import shutil
import signal
import sys
import threading
import time

import numpy as np
import pytest
from answers import parquet_set, sha1, tied_points
from processes import with_command

import kith
import kith.spark

pa = pytest.importorskip("pyarrow")
pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as sf  # noqa: E402


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """Two executors of one core and 1 GiB, in processes of their own."""
    os.environ.update(
        PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=str(tmp_path_factory.mktemp("work"))
    )
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what is here runs for seconds
    settings = {
        "spark.driver.extraJavaOptions": quick,
        "spark.executor.extraJavaOptions": quick,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName(f"kith-{os.getpid()}")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def frame(spark, points, ids=None, kind=None):
    ids = np.arange(len(points)) if ids is None else ids
    kind = pa.list_(pa.from_numpy_dtype(points.dtype)) if kind is None else kind
    return spark.createDataFrame(pa.table({"id": pa.array(ids, pa.int64()), "vector": pa.array(list(points), kind)}))


def lists(found, queries, k):
    """(distances, indices) as kith.search returns them, of an answer without gaps."""
    table = found.orderBy("query_id", "rank").toArrow()
    assert (table["rank"].to_numpy().reshape(queries, k) == np.arange(1, k + 1)).all()
    return table["distance"].to_numpy().reshape(queries, k), table["id"].to_numpy().reshape(queries, k)


@pytest.mark.parametrize("partitions, dtype", [(1, np.float64), (7, np.float32)])
def test_any_partitions_give_the_answer_of_the_whole(spark, rng, monkeypatch, partitions, dtype):
    monkeypatch.setattr(kith.spark, "PIECE_BYTES", 200)  # of a few queries each
    base = tied_points(rng, 60, 3, dtype)
    shuffled = rng.permutation(60)
    df = frame(spark, base[shuffled], shuffled).repartition(partitions, "id")
    queries = df.where("id < 9")
    whole = kith.search(base, base[:9], 5, metric="manhattan")
    found = kith.spark.search(df, queries, 5, "id", "vector", metric="manhattan")
    distance = "float" if dtype == np.float32 else "double"
    assert found.dtypes == [("query_id", "bigint"), ("rank", "int"), ("id", "bigint"), ("distance", distance)]
    assert sha1(*lists(found, 9, 5)) == sha1(*whole)


def test_ids_are_the_users(spark, rng):
    base = tied_points(rng, 40, 3)
    ids = np.sort(rng.choice(10**12, 40, replace=False)) - 10**11
    df = frame(spark, base, ids)
    asked = frame(spark, base[:5], ids[:5]).select(sf.col("id").alias("question"), sf.col("vector").alias("x"))
    options = {"query_id_col": "question", "query_vector_col": "x"}
    distances, found = lists(kith.spark.search(df, asked, 4, "id", "vector", **options), 5, 4)
    whole = kith.search(base, base[:5], 4)
    assert sha1(distances, found) == sha1(whole.distances, ids[whole.indices])
    distances, found = lists(kith.spark.search(df, asked, 4, "id", "vector", exclude_self=True, **options), 5, 4)
    others = kith.Index(base).search_self(4)
    assert sha1(distances, found) == sha1(others.distances[:5], ids[others.indices[:5]])


def test_fewer_rows_than_k(spark, rng):
    base = tied_points(rng, 6, 3)
    df = frame(spark, base)
    table = kith.spark.search(df, df, 10, "id", "vector").toArrow()
    assert table.num_rows == 36 and max(table["rank"].to_pylist()) == 6
    assert kith.spark.search(df.where("id < 0"), df, 10, "id", "vector").count() == 0
    assert kith.spark.search(df, df.where("id < 0"), 10, "id", "vector").count() == 0


def test_arguments(spark, rng, monkeypatch):
    df = frame(spark, tied_points(rng, 6, 3))
    with pytest.raises(ValueError, match="no column 'ids'; there are id, vector"):
        kith.spark.search(df, df, 1, "ids", "vector")
    with pytest.raises(TypeError, match="column 'id' is of bigint; vectors are arrays"):
        kith.spark.search(df, df, 1, "id", "id")
    with pytest.raises(TypeError, match="ids are whole numbers"):
        kith.spark.search(df.withColumn("id", sf.col("id").cast("string")), df, 1, "id", "vector")
    with pytest.raises(ValueError, match="k = 0"):
        kith.spark.search(df, df, 0, "id", "vector")
    with pytest.raises(ValueError, match="shifted-sort|method"):
        kith.spark.search(df, df, 1, "id", "vector", method="nothing")
    monkeypatch.setattr(kith.spark, "LARGEST_QUERIES", 100)
    with pytest.raises(ValueError, match="more than 2 queries of 3 numbers with k = 2; .* 100 bytes"):
        kith.spark.search(df, df, 2, "id", "vector")


def test_rows_that_are_no_points(spark, rng):
    base = tied_points(rng, 6, 3)
    df = frame(spark, base)
    null = df.withColumn("vector", sf.when(sf.col("id") != 4, sf.col("vector")))
    with pytest.raises(Exception, match="column 'vector' is null where the id is 4"):
        kith.spark.search(null, df, 1, "id", "vector").toArrow()
    with pytest.raises(Exception, match="id 3 occurs twice"):
        twice = df.withColumn("id", sf.when(sf.col("id") == 2, 3).otherwise(sf.col("id")))
        kith.spark.search(twice.coalesce(1), df, 1, "id", "vector").toArrow()


def test_one_parquet_set_with_an_executor_killed(spark, tmp_path):
    base, queries = parquet_set(tmp_path / "points")
    whole = sha1(*kith.search(base, queries, 10))
    df = spark.read.parquet(str(tmp_path / "points")).repartition(12, "id")

    def slowly(batches):
        time.sleep(0.4)
        yield from batches

    slow = df.select("id", "embedding").mapInArrow(slowly, df.schema)
    asked = df.where("id % 300 = 0").withColumn("id", (sf.col("id") / 300).cast("long"))
    found = kith.spark.search(slow, asked, 10, "id", "embedding")
    command = "CoarseGrainedExecutorBackend", spark.sparkContext.applicationId
    before = with_command(*command)
    assert len(before) == 2
    answer = []
    search = threading.Thread(target=lambda: answer.append(lists(found, 10, 10)))
    search.start()
    time.sleep(1.5)
    os.kill(before[0], signal.SIGKILL)
    assert search.is_alive()  # it was killed in the midst of the search
    search.join(timeout=120)
    assert sha1(*answer[0]) == whole
    assert before[0] not in with_command(*command)
