# SPDX-License-Identifier: BSD-2-Clause
"""Tests the figures and lines of taper bench and speed_benchmark_torch."""
import json
import os
import zipfile

from toolcase import BUNDLED, DEMO, VALUES, ToolCase, main, np

CLASSIFIER = os.path.join(DEMO, "classifier.ptl")
STEM = 2 * 48 * 48 * 16 * 27  # number of operations of the classifier's first layer: 48 x 48 pixels, 16 output channels, 27 products for each
FINISHED = r"Main run finished\. Microseconds per iter: [0-9.e+]+\. Iters per second: [0-9.e+]+\n$"


# This model writes to each of its inputs, and raises an exception if an input was written to before.
WRITES = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.M,
    d: Dict[str, Tensor],
    l: List[Dict[str, int]],
    x: Tensor) -> Tensor:
    if torch.eq(torch.len(d), 1):
      pass
    else:
      ops.prim.RaiseException("the dict has more")
    if torch.eq(torch.len(l[0]), 0):
      pass
    else:
      ops.prim.RaiseException("the list's dict has more")
    if torch.eq(torch.item(torch.sum(x)), 6.0):
      pass
    else:
      ops.prim.RaiseException("the tensor was written to")
    torch._set_item(d, "more", x)
    torch._set_item(l[0], "more", 1)
    _0 = torch.append(l, {"y": 2})
    _1 = torch.add_(x, 1)
    return torch.add(d["x"], _1)
"""


class Bench(ToolCase):
    def test_json(self):
        done = self.call("bench", CLASSIFIER, "--input-dims", "1,3,96,96", "--warmup", 1, "--iter", 4, "--threads", 1,
                         "--json")
        found = json.loads(done.stdout)
        self.assertEqual(len(found["iter_ms"]), 4)
        self.assertAlmostEqual(found["median_ms"], float(np.median(found["iter_ms"])), places=3)
        self.assertEqual((found["threads"], found["device"]), (1, "cpu"))
        for key in ["load_ms", "first_ms", "second_ms", "peak_rss_kb", "allocations_per_iter"]:
            self.assertIn(key, found)
        self.assertGreater(found["peak_rss_kb"], 1000)

    def test_profile(self):
        done = self.call("bench", CLASSIFIER, "--input-dims", "1,3,96,96", "--warmup", 1, "--iter", 1, "--threads", 1,
                         "--profile", "--json")
        stem = next(op for op in json.loads(done.stdout)["ops"] if "conv2d" in op["name"])
        # Speed times time must give the number of operations of the kernel: the multiplications and additions of the
        # first layer.
        done = stem["gflops"] * stem["ms"] * 1e6
        self.assertAlmostEqual(done / STEM, 1, delta=0.02)

    def test_bounds_and_trace(self):
        trace = self.path("trace.json")
        model = os.path.join(DEMO, "classifier.pt")
        done = self.call("bench", model, "--input-dims", "1,3,96,96", "--iter", 3, "--threads", 1, "--profile", "--json", "-o", trace)
        found = json.loads(done.stdout)
        stem = next(op for op in found["ops"] if "conv2d" in op["name"])
        self.assertGreater(stem["peak_percent"], 0)
        self.assertGreater(stem["bandwidth_percent"], 0)
        for op in found["ops"]:
            self.assertIn(op["bound"], ["arithmetic", "memory", "overhead", None])
        with open(trace, encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
        operators = [e for e in events if e["cat"] == "operator"]
        layers = [e for e in events if e["cat"] == "layer"]
        self.assertEqual([e["name"] for e in operators], [op["name"] for op in found["ops"]])
        end = 0
        for event in operators:  # each operator begins where the one before it ends
            self.assertAlmostEqual(event["ts"], end, delta=0.01)
            end = event["ts"] + event["dur"]
        self.assertAlmostEqual(sum(e["dur"] for e in layers), sum(e["dur"] for e in operators), delta=0.1)
        self.assertIn("features.0.0", [e["name"] for e in layers])
        text = self.call("bench", CLASSIFIER, "--input-dims", "1,3,96,96", "--iter", 1, "--profile").stdout
        self.assertRegex(text, r"measured at most: [0-9.]+ GFLOP/s and [0-9.]+ GB/s")

    def test_layers(self):
        model = os.path.join(DEMO, "classifier.pt")
        for arguments in ([], ["--no-optimize"], ["--disable", "segments"]):
            done = self.call("bench", model, "--input-dims", "1,3,96,96", "--iter", 3, "--profile", "--json", *arguments)
            found = json.loads(done.stdout)
            layers = {layer["module"]: layer for layer in found["layers"]}
            self.assertEqual(len(layers), len(found["layers"]))
            for name in ["features.0.0", "features.1.conv.0.0", "classifier.1"]:
                self.assertIn(name, layers)
            for name, layer in layers.items():
                ops = [op for op in found["ops"] if op["layer"] == name]
                self.assertEqual(layer["operators"], len(ops))
                self.assertAlmostEqual(layer["ms"], sum(op["ms"] for op in ops), delta=1e-5 * len(ops) + 1e-6)
            parts = sum(layer["ms"] for layer in found["layers"]) + found["outside_ms"]
            self.assertAlmostEqual(parts, found["run_ms"], delta=1e-5 * len(layers))
            self.assertGreaterEqual(found["run_ms"], sum(found["iter_ms"]) / 3 - 1e-3)
        text = self.call("bench", model, "--input-dims", "1,3,96,96", "--iter", 3, "--profile").stdout
        self.assertRegex(text, r"% +features\.0\.0 +[0-9]+  ")
        self.assertRegex(text, r"ms in layers, and [0-9.]+ ms outside of operators: [0-9.]+ ms a run")

    def test_terminal(self):
        """On a terminal, bars fill the line and are coloured; in a pipe, bars have a fixed width and no colour."""
        import fcntl
        import pty
        import re
        import struct
        import subprocess
        import termios
        from toolcase import BIN
        command = [os.path.join(BIN, "taper"), "bench", os.path.join(DEMO, "classifier.pt"), "--input-dims", "1,3,96,96",
                   "--iter", "1", "--profile"]
        for columns in (100, 140):
            controller, terminal = pty.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen(command, stdout=terminal, stderr=subprocess.PIPE,
                                       env={**os.environ, "TERM": "xterm", "LC_ALL": "C", "NO_COLOR": ""})
            os.close(terminal)
            text = b""
            try:
                piece = os.read(controller, 65536)
                while piece:
                    text += piece
                    piece = os.read(controller, 65536)
            except OSError:  # Linux raises this error after all output is read
                pass
            os.close(controller)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            self.assertIn(b"\033[32m", text)
            lines = [re.sub("\033\\[[0-9]*m", "", line.rstrip("\r")) for line in text.decode().split("\n")]
            rows = [line for line in lines if re.match(r" +[0-9.]+ +[0-9.]+%  (features|classifier)", line)]
            self.assertGreater(len(rows), 20)  # the table must have more than 20 rows of layers
            # A bar may fill the rest of its line, at most 60 columns. The bar takes four times the row's share of this
            # room, at most all of it.
            for row in rows:
                text = row.rstrip("#")
                share = float(re.search("([0-9.]+)%", text)[1]) / 100
                room = min(columns - len(text) - 1, 60)
                self.assertGreaterEqual(room, 4)
                self.assertAlmostEqual(len(row) - len(text), min(4 * share, 1) * room, delta=1, msg=row)
        self.assertNotIn("\033", self.call(*command[1:]).stdout)

    def test_inputs(self):
        self.save("x.npy", np.ones((2, 2), "float32"))
        self.assertIn("median", self.call("bench", VALUES, "-i", "x.npy", "-i", "3").stdout)
        self.call("bench", BUNDLED, "--bundled", "1", "--iter", 1, "--warmup", 0)
        self.call("bench", VALUES, "--method", "count", "--iter", 2)
        self.fails("bench", VALUES, "--input-dims", "1,x", says="--input-dims")
        self.fails("bench", VALUES, "--input-dims", "1000000,1000000,1000", says="--input-dims")
        self.assertIn("aten::mul.Scalar", self.call("bench", VALUES, "--profile", "-i", "x.npy", "-i", "3").stdout)


    def test_written_inputs(self):
        model = self.path("writes.pt")
        with zipfile.ZipFile(model, "w") as z:
            z.writestr("m/data.pkl", b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00training\x89sb.")
            z.writestr("m/constants.pkl", b"\x80\x02).")
            z.writestr("m/version", "3\n")
            z.writestr("m/code/__torch__.py", WRITES)
        inputs = ["-i", '{"x": {"@tensor": [1.0]}}', "-i", "[{}]", "-i", '{"@tensor": [1.0, 2.0, 3.0]}']
        for options in ([], ["--profile"], ["--no-optimize"]):
            self.call("bench", model, *inputs, "--iter", 3, "--warmup", 2, *options)


class SpeedBenchmark(ToolCase):
    def bench(self, *arguments, status=0):
        return self.call(*arguments, program="speed_benchmark_torch", status=status)

    def test_lines(self):
        done = self.bench(f"--model={CLASSIFIER}", "--input_dims=1,3,96,96", "--input_type", "float", "--warmup=1",
                          "--iter", "3")
        self.assertRegex(done.stdout, "^Starting benchmark\\.\nRunning warmup runs\\.\nMain runs\\.\n" + FINISHED)

    def test_report_pep(self):
        done = self.bench("--model", BUNDLED, "--use_bundled_input=0", "--iter=2", "--report_pep=true")
        line = r'PyTorchObserver {"type": "NET", "unit": "us", "metric": "latency", "value": "\d+"}' + "\n"
        self.assertRegex(done.stdout, "Main runs\\.\n" + line * 2 + FINISHED)

    def test_bundled_by_default(self):
        done = self.bench("--model", BUNDLED, "--iter=1", "--print_output")
        self.assertEqual(done.stderr, "no input is given: the model's bundled input 0 is used\n")
        self.assertEqual(done.stdout.split("\n")[0],
                         self.bench("--model", BUNDLED, "--iter=1", "--print_output", "--use_bundled_input=0").stdout.split("\n")[0])
        self.bench("--model", CLASSIFIER, "--iter=1", status=1)  # this model has no bundled inputs
        self.bench("--model", BUNDLED, "--iter=1", "--no_inputs", status=1)

    def test_flags(self):
        self.bench("--model", CLASSIFIER, "--input_dims", "1,3,96,96", "--input_type", "float",
                   "--input_memory_format", "channels_last", "--use_caching_allocator", "--iter", "1",
                   "--print_output=false", "--pthreadpool_size=1", "--noreport_pep")
        done = self.bench("--model", BUNDLED, "--use_bundled_input", "1", "--print_output", "--iter=1")
        self.assertIn("50.0, 50.0", done.stdout.split("\n")[0])
        self.assertIn("--input_dims", self.bench("--help").stdout)

    def test_failures(self):
        done = self.bench("--model", CLASSIFIER, "--dance", status=1)
        self.assertIn("Failed to parse command line flags!", done.stderr)
        done = self.bench("--model", CLASSIFIER, "--use_bundled_input=0", status=1)
        self.assertEqual(done.stderr, "Model does not have bundled inputs.  Before saving,\n"
                                      "use torch.utils.bundled_inputs.augment_model_with_bundled_inputs.\n")
        done = self.bench("--model", BUNDLED, "--use_bundled_input=2", status=1)
        self.assertEqual(done.stderr, "Model has only 2 bundled inputs.\n")
        done = self.bench("--model", CLASSIFIER, "--input_dims=1;2", "--input_type=float", status=1)
        self.assertIn("Input dims and type should have the same number of items.", done.stderr)
        done = self.bench("--model", CLASSIFIER, "--input_dims=1", "--input_type=char", status=1)
        self.assertIn("Unsupported input type: char", done.stderr)
        self.assertIn("--vulkan", self.bench("--model", CLASSIFIER, "--vulkan", status=1).stderr)


if __name__ == "__main__":
    main()
