#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py BIN [--models A,B[@SIZE]…] [--peers P,Q] [--python PYTHON] [--edge PYTHON] [--threads 1,2] [--rounds R] [--seconds S] [--loads L]
[--form pt|ptl|opt.ptl] [--realtime] [--any-blas] [--folder DIR] [--plot FILE.svg]
[--json FILE]

Runs the same networks with the same weights and input in Taper and in every installed peer, alternating. Each engine runs in its own process, which
is stopped while the others run, for R rounds of S seconds. Prints the median time of each engine, and the median of the ratio of Taper's time in each
round to the engine's. --loads adds the times of load and first run, in L new processes. The script compares all results with PyTorch's. BIN is the
folder of the program `compare_worker`.

Peers: torch_lite (Debian's python3-torch: PyTorch Mobile in its fastest form); from the packages of PYTHON (default: this Python) onnxruntime,
openvino, ncnn with pnnx, mnn; from the packages of EDGE executorch and litert with litert-torch (float networks). EDGE may be another Python than
PYTHON, because executorch and litert need another PyTorch. Peers that are not installed are skipped, with a note. Models are builders of
torchvision, "+int8" as in make_zoo.py; missing files are made in DIR. On a machine with other load only the ratios are meaningful; --realtime runs
everything under SCHED_RR, which needs a privilege, so that other load has less effect."""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import torch_blas  # noqa: E402

SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's PyTorch runs with this Python
NETWORKS = ("mobilenet_v2,mobilenet_v3_large,resnet18,resnet50,deeplabv3_resnet50,quantized_mobilenet_v2+int8,quantized_resnet18+int8,"
            "quantized_resnet50+int8")
PEERS = ("torch_lite", "onnxruntime", "openvino", "ncnn", "mnn", "executorch", "litert")
FORMS = {"torch_lite": ".opt.ptl", "onnxruntime": ".onnx", "openvino": ".onnx", "ncnn": ".ncnn.param", "mnn": ".mnn", "executorch": ".pte",
         "litert": ".tflite"}
EDGE = ("executorch", "litert")


class Missing(Exception):
    pass


def make_models(options, name, size):
    """Returns the path of the network's files, without a suffix."""
    if name.endswith("+int8") and not name.startswith("quantized_"):
        raise Missing(f"its builder has no int8; that of quantized_{name} has")
    path = os.path.join(options.folder, str(size), name.replace("+", "_"))
    if not os.path.exists(path + ".input"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        made = subprocess.run([SYSTEM_PYTHON, os.path.join(HERE, "make_models.py"), os.path.dirname(path), name, str(size)])
        if made.returncode != 0:
            raise Missing("its files could not be made")
    bin_folder = os.path.dirname(options.python)
    if not os.path.exists(path + ".ncnn.param") and os.path.exists(os.path.join(bin_folder, "pnnx")) and "int8" not in name:
        with tempfile.TemporaryDirectory() as scratch:
            trace = os.path.join(scratch, "x.pt")
            os.symlink(os.path.abspath(path + ".trace.pt"), trace)
            subprocess.run([os.path.join(bin_folder, "pnnx"), trace, f"inputshape=[1,3,{size},{size}]", "fp16=0"], cwd=scratch,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for end in ("param", "bin"):
                if os.path.exists(os.path.join(scratch, "x.ncnn." + end)):
                    os.replace(os.path.join(scratch, "x.ncnn." + end), path + ".ncnn." + end)
    if not os.path.exists(path + ".mnn") and os.path.exists(os.path.join(bin_folder, "mnnconvert")) and os.path.exists(path + ".onnx"):
        whole = os.path.abspath(path)
        subprocess.run([os.path.join(bin_folder, "mnnconvert"), "-f", "ONNX", "--modelFile", whole + ".onnx", "--MNNModel", whole + ".mnn",
                        "--bizCode", "x"], cwd=os.path.dirname(whole), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wanted = [peer for peer in EDGE if peer in options.peers and not os.path.exists(path + FORMS[peer])]
    if wanted and "int8" not in name and subprocess.run([options.edge, "-c", "import torch, torchvision"], capture_output=True).returncode == 0:
        subprocess.run([options.edge, os.path.join(HERE, "make_edge.py"), path, name, str(size)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return path


def realtime():
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(50))


class Worker:
    """A process of worker.c or peer.py."""

    def __init__(self, options, peer, path, size, threads, form=None):
        end = form or FORMS[peer]
        sizes = f"1,3,{size},{size}"
        if not os.path.exists(path + end):
            raise Missing(f"no {os.path.basename(path + end)}")
        if peer == "taper":
            command = [os.path.join(options.bin, "compare_worker")]
        else:
            python = SYSTEM_PYTHON if peer == "torch_lite" else options.edge if peer in EDGE else options.python
            command = [python, os.path.join(HERE, "peer.py"), peer]
        environment = dict(torch_blas.environment(threads), ATEN_CPU_CAPABILITY="avx2")
        if options.any_blas:
            environment["TAPER_ANY_BLAS"] = "1"
        self.process = subprocess.Popen(command + [path + end, str(threads), path + ".input", sizes], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                        preexec_fn=realtime if options.realtime else None)
        line = self.process.stdout.readline()
        while line and not re.match(r"^[\d.]+ [\d.]+ \d+$", line):  # skips lines that libraries print before the line of times
            line = self.process.stdout.readline()
        if not line:
            error = self.process.stderr.read().strip()
            raise Missing(error.splitlines()[-1][:160] if error else "it ended")
        self.load_ms, self.first_ms, self.peak_kb = (float(word) for word in line.split())
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, line):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        self.stop()
        if not answer:
            raise Missing("it ended: " + self.process.stderr.read().strip()[-160:])
        return answer

    def time(self, seconds):
        return statistics.median(float(word) for word in self.ask(f"time {seconds}").split())

    def result(self):
        with tempfile.NamedTemporaryFile() as file:
            self.ask("save " + file.name)
            return np.fromfile(file.name, np.float32)

    def close(self):
        self.process.kill()
        self.process.communicate()


def agreement(result, wanted):
    """Returns the difference of a result from PyTorch's, relative to the largest number. For 8-bit networks of other engines, which round
    differently, it returns the correlation."""
    if result.size != wanted.size or not np.isfinite(result).all():
        return "WRONG"
    off = np.abs(result - wanted).max() / max(np.abs(wanted).max(), 1e-30)
    return f"{off:.0e}" if off < 1e-2 else f"r={np.corrcoef(result, wanted)[0, 1]:.3f}"


def compare(options, name, size, threads, rows):
    path = make_models(options, name, size)
    ours, workers = "taper", {}
    for peer in [ours] + options.peers:
        try:
            workers[peer] = Worker(options, peer, path, size, threads, "." + options.form if peer == ours else None)
        except Missing as reason:
            print(f"    {peer} left out: {reason}", flush=True)
    if ours not in workers:
        return
    try:
        times = {peer: [] for peer in workers}
        for peer in workers:
            workers[peer].time(0.05)
        for turn in range(options.rounds):
            for peer in list(workers) if turn % 2 == 0 else reversed(list(workers)):
                times[peer].append(workers[peer].time(options.seconds))
        results = {peer: w.result() for peer, w in workers.items()}
        starts = {peer: [] for peer in workers}
    finally:
        for w in workers.values():
            w.close()
    for _ in range(options.loads):
        for peer in workers:
            w = Worker(options, peer, path, size, threads, "." + options.form if peer == ours else None)
            starts[peer].append(w.load_ms + w.first_ms)
            w.close()
    wanted = results.get("torch_lite", results[ours])
    for peer in workers:
        row = {"model": name, "size": size, "threads": threads, "peer": peer, "median_ms": statistics.median(times[peer]),
               "ratio": statistics.median(a / b for a, b in zip(times[ours], times[peer])), "agrees": agreement(results[peer], wanted)}
        if options.loads:
            row["start_ms"] = statistics.median(starts[peer])
            row["start_ratio"] = statistics.median(a / b for a, b in zip(starts[ours], starts[peer]))
        rows.append(row)
    beside = [row for row in rows if row["model"] == name and row["size"] == size and row["threads"] == threads]
    print(f"{name} {size}, {threads} thread(s)")
    for row in beside:
        start = f"   load+first {row['start_ms']:8.1f} ms, Taper's ratio {row['start_ratio']:.3f}" if options.loads else ""
        print(f"    {row['peer']:12s} {row['median_ms']:9.3f} ms   Taper's ratio {row['ratio']:.3f}   {row['agrees']:>8s}{start}", flush=True)


def plot(rows, file):
    """Draws a bar for each peer: its time relative to Taper's."""
    groups = {}
    for row in rows:
        if row["peer"] != "taper":
            groups.setdefault((row["model"], row["size"], row["threads"]), []).append((row["peer"], 1 / row["ratio"]))
    colours = dict(zip(PEERS, ("#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d")))
    widest, y, out = max([v for bars in groups.values() for _, v in bars] + [1]), 30, []
    scale = 520 / widest
    for (model, size, threads), bars in groups.items():
        out.append(f'<text x="8" y="{y + 10}">{model} {size}, {threads} thread(s)</text>')
        for peer, value in bars:
            y += 14
            out.append(f'<rect x="90" y="{y}" width="{value * scale:.1f}" height="11" fill="{colours.get(peer, "#888")}"/>'
                       f'<text x="8" y="{y + 10}" fill="#555">{peer}</text><text x="{96 + value * scale:.1f}" y="{y + 10}">{value:.2f}</text>')
        y += 26
    one = 90 + scale
    with open(file, "w") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{y + 10}" font-family="sans-serif" font-size="11">'
                f'<rect width="100%" height="100%" fill="white"/><text x="8" y="16">time of an inference, Taper = 1</text>{"".join(out)}'
                f'<line x1="{one:.1f}" x2="{one:.1f}" y1="22" y2="{y}" stroke="#000" stroke-dasharray="3"/></svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--models", default=NETWORKS, type=lambda text: text.split(","))
    parser.add_argument("--peers", default=",".join(PEERS), type=lambda text: [p for p in text.split(",") if p])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--edge", default=sys.executable)
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(t) for t in text.split(",")])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--loads", type=int, default=0)
    parser.add_argument("--form", default="pt")
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--any-blas", action="store_true")
    parser.add_argument("--folder", default=os.path.join(tempfile.gettempdir(), "taper-compare"))
    parser.add_argument("--plot")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, failed = [], False
    for model in options.models:
        name, _, size = model.partition("@")
        for threads in options.threads:
            try:
                compare(options, name, int(size or 224), threads, rows)
            except Missing as reason:
                print(f"{model}: {reason}")
                failed = True
    if options.plot and rows:
        plot(rows, options.plot)
    if options.json:
        with open(options.json, "w") as f:
            json.dump(rows, f, indent=1)
    sys.exit(failed or any(row["agrees"] == "WRONG" for row in rows))


if __name__ == "__main__":
    main()
