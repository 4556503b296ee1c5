"""Spark's nearestByJoin beside kith.spark.search, on the same data frames: times, and whether pairs agree.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python/spark_join.py [--rows 10000] [--dims 128] [-k 5]

Both search cached frames of arrays of floats and hand what they find to the driver. It needs Spark 4.2 or later, whose
vector_l2_distance rounds by itself: where two distances are all but equal, nearestByJoin may have another pair.
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

import kith
import kith.spark


def session(cores, python_path):
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.executorEnv.PYTHONPATH", python_path)
    made = builder.config("spark.sql.shuffle.partitions", str(2 * cores)).getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def frame(spark, points, folder, name):
    kind = pa.list_(pa.float32())
    table = pa.table({f"{name}_id": pa.array(np.arange(len(points))), name: pa.array(list(points), kind)})
    path = os.path.join(folder, name + ".parquet")
    pq.write_table(table, path, row_group_size=-(-len(points) // 4))
    df = spark.read.parquet(path).repartition(4).cache()
    df.count()
    return df


def timed(name, work):
    begin = time.perf_counter()
    answer = work()
    seconds = time.perf_counter() - begin
    print(f"{name:24s} {seconds:8.2f} s", flush=True)
    return answer, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000, help="of the base and of the queries")
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    base, queries = (rng.random((asked.rows, asked.dims), dtype=np.float32) for _ in range(2))
    spark = session(asked.cores, os.environ.get("PYTHONPATH", ""))
    print(
        f"{asked.rows} × {asked.rows} × {asked.dims}, k = {asked.k}, {asked.cores} cores, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        items, questions = frame(spark, base, folder, "item"), frame(spark, queries, folder, "question")

        def search():
            options = {"query_id_col": "question_id", "query_vector_col": "question"}
            found = kith.spark.search(items, questions, asked.k, "item_id", "item", **options)
            return found.orderBy("query_id", "rank").toArrow()

        def join():
            distance = sf.vector_l2_distance("question", "item")
            found = questions.nearestByJoin(items, distance, asked.k, "exact", "distance")
            return found.select("question_id", "item_id").toArrow()

        mine, _ = timed("kith.spark, first call", search)
        mine, seconds = timed("kith.spark", search)
        theirs, others = timed("nearestByJoin", join)
    spark.stop()
    whole = kith.search(base, queries, asked.k)
    exact = (mine["id"].to_numpy().reshape(-1, asked.k) == whole.indices).all()
    pairs = set(zip(theirs["question_id"].to_pylist(), theirs["item_id"].to_pylist()))
    same = sum((query, item) in pairs for query, row in enumerate(whole.indices.tolist()) for item in row)
    print(f"kith.spark has the ids of kith.search: {exact}; nearestByJoin has {same} of its {whole.indices.size} pairs")
    print(f"{others / seconds:.1f} times as fast")


main()
