#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""score_ray.py MODEL IMAGES [OUT]: scores a folder of pictures on all cores with Ray.

Each worker loads the model once and then takes one batch after the other. IMAGES is a folder of .npy files, each with pictures as inputs of the
model, float32 [3, H, W] or [N, 3, H, W]. OUT is a .csv file with the class of each picture and its probability."""
import csv
import os
import sys

import numpy as np
import ray

import taper


@ray.remote
class Scorer:
    def __init__(self, model_path):
        # Ray assigns the cores to workers, so each worker has one thread.
        self.model = taper.load(model_path, threads=1)

    def score(self, paths):
        rows = []
        for path in paths:
            picture = np.load(path)
            scores = self.model(picture if picture.ndim == 4 else picture[np.newaxis]).numpy()
            exponents = np.exp(scores - scores.max(axis=-1, keepdims=True))
            chances = exponents / exponents.sum(axis=-1, keepdims=True)
            rows += [(os.path.basename(path), int(row.argmax()), float(row.max())) for row in chances]
        return rows


def main(model_path, folder, out="scores.csv", batch=4):
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".npy"))
    workers = [Scorer.remote(os.path.abspath(model_path)) for _ in range(int(ray.cluster_resources()["CPU"]))]
    batches = [paths[i:i + batch] for i in range(0, len(paths), batch)]
    results = ray.util.ActorPool(workers).map(lambda worker, some: worker.score.remote(some), batches)
    with open(out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "class", "chance"])
        for rows in results:
            writer.writerows(rows)
    print(f"{len(paths)} files, {len(workers)} workers: {out}")


if __name__ == "__main__":
    ray.init(num_cpus=int(os.environ.get("WORKERS", "2")), include_dashboard=False, log_to_driver=False)
    main(*sys.argv[1:])
