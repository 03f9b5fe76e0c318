#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""score_spark.py MODEL IMAGES [OUT]: scores a folder of .npy pictures with Spark; score_ray.py does this with Ray.

The model's bytes are broadcast. Each Python worker loads the model once, for any number of partitions."""
import io
import os
import sys

import numpy as np
from pyspark.sql import SparkSession

MODELS = {}  # the model that this worker loaded


def scorer(model_bytes):
    def score(rows):
        import taper
        if "model" not in MODELS:
            MODELS["model"] = taper.load(model_bytes.value, threads=1)
        for path, data in rows:
            picture = np.load(io.BytesIO(data))
            scores = MODELS["model"](picture if picture.ndim == 4 else picture[np.newaxis]).numpy()
            for row in scores:
                yield os.path.basename(path), int(row.argmax()), float(1 / np.exp(row - row.max()).sum())
    return score


def main(model_path, folder, out="scores.csv"):
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's workers run the Python interpreter of this program
    spark = SparkSession.builder.master("local[2]").appName("taper").config("spark.ui.enabled", "false").getOrCreate()
    with open(model_path, "rb") as file:
        model_bytes = spark.sparkContext.broadcast(file.read())
    files = spark.sparkContext.binaryFiles("file://" + os.path.abspath(folder) + "/*.npy", 4)
    rows = sorted(files.mapPartitions(scorer(model_bytes)).collect())
    with open(out, "w") as file:
        file.write("file,class,chance\n" + "".join(f"{name},{number},{chance}\n" for name, number, chance in rows))
    print(f"{len(rows)} pictures: {out}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
