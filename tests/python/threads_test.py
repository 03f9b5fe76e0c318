#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests the module with threads, signals, forks and several interpreters."""
import io
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

VALUES, SMALL = support.model_path("values.pt"), support.model_path("small.pt")
LONG = 10 ** 12


def in_threads(count, work):
    failures = []

    def run(i):
        try:
            work(i)
        except BaseException as error:  # any exception is kept, because the thread that waits reports it
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def script(text, *arguments):
    """Runs a script in its own process."""
    head = f"import sys, os, signal, threading, time\nsys.path.insert(0, {support.PACKAGE!r})\nimport taper\nmodel = taper.load({VALUES!r})\n"
    return subprocess.run([sys.executable, "-c", head + text, *arguments], capture_output=True, text=True, timeout=120)


class Threads(unittest.TestCase):
    def test_one_model(self):
        model = taper.load(SMALL)
        inputs = [np.random.default_rng(i).standard_normal((1, 3, 8, 8)).astype(np.float32) for i in range(16)]
        wanted = [model(x).numpy() for x in inputs]

        def work(i):
            for _ in range(200):
                np.testing.assert_array_equal(model(inputs[i]).numpy(), wanted[i])

        in_threads(16, work)

    def test_clones(self):
        model = taper.load(SMALL, threads=1)
        x = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
        wanted = model(x).numpy()

        def work(unused):
            own = model.clone()
            for _ in range(200):
                np.testing.assert_array_equal(own(x).numpy(), wanted)

        in_threads(16, work)

    def test_state_is_shared_in_turns(self):
        model = taper.load(VALUES)
        in_threads(16, lambda i: [model.step() for _ in range(100)])
        self.assertEqual(model.attribute("count"), 1600)

    def test_one_array_in_many_threads(self):
        model = taper.load(VALUES)
        x = np.zeros(4)
        x.setflags(write=False)
        models = [model.clone() for _ in range(8)]

        def work(i):
            for _ in range(200):
                self.assertEqual(models[i].add_one(x).tolist(), [1] * 4)

        in_threads(8, work)
        self.assertEqual(x.tolist(), [0] * 4)

    def test_load_in_threads(self):
        in_threads(16, lambda i: [taper.optimize_for_mobile(SMALL) if i % 4 == 0 else taper.load(SMALL) for _ in range(5)])

    def test_the_lock_of_python_is_free(self):
        model = taper.load(VALUES)
        seen = []
        runner = threading.Thread(target=lambda: seen.append(self.cancelled(model)))
        runner.start()
        counted, end = 0, time.monotonic() + 0.2
        while time.monotonic() < end:
            counted += 1
        self.assertGreater(counted, 1000)
        self.stop(model, runner)
        self.assertEqual(seen, [True])

    def cancelled(self, model):
        try:
            model.spin(LONG)
        except taper.Error as error:
            return error.status is taper.Status.CANCELLED
        return False

    def stop(self, model, thread):
        while thread.is_alive():
            model.cancel()
            thread.join(0.01)

    def test_cancel(self):
        model = taper.load(VALUES)
        model.cancel()  # cancelling without an active run has no effect on the next run
        self.assertEqual(model.spin(3), 3)
        for _ in range(5):
            seen = []
            thread = threading.Thread(target=lambda: seen.append(self.cancelled(model)))
            thread.start()
            self.stop(model, thread)
            self.assertEqual(seen, [True])
            self.assertEqual(model.step(), _ + 1)

    def test_cancel_at_any_time(self):
        """A run that ends before it sees a cancellation does not affect the next run."""
        model = taper.load(VALUES)
        stopping = threading.Event()

        def disturb():
            while not stopping.is_set():
                model.cancel()

        thread = threading.Thread(target=disturb)
        thread.start()
        end, done, cancelled = time.monotonic() + 1, 0, 0
        try:
            while time.monotonic() < end:
                try:
                    model.spin(50)
                    done += 1
                except taper.Error as error:
                    self.assertIs(error.status, taper.Status.CANCELLED)
                    cancelled += 1
        finally:
            stopping.set()
            thread.join()
        for i in range(20):
            self.assertEqual(model.spin(3), 3)

    def test_what_prints_may_call(self):
        model = taper.load(VALUES)

        class Out(io.StringIO):
            def write(self, text):
                model.step()
                return super().write(text)

        out, before = Out(), sys.stdout
        sys.stdout = out
        try:
            model.say("x")
        finally:
            sys.stdout = before
        self.assertEqual(out.getvalue(), "x\n")
        self.assertGreater(model.attribute("count"), 0)

    def test_what_a_conversion_calls_may_call(self):
        model = taper.load(VALUES)

        class Calls:
            shape, dtype = (), None

            def item(self):
                return model.step()

        self.assertEqual(model.ints([Calls(), Calls()]), [1, 2, 2])


class Signals(unittest.TestCase):
    def test_interrupt(self):
        done = script("""
for i in range(3):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    try:
        model.spin(10 ** 12)
        print("ran")
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - begin < 20, model.step(), model.spin(3))
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("again")
""")
        self.assertEqual((done.stdout, done.returncode),
                         ("".join(f"interrupted True {i} 3\n" for i in (1, 2, 3)) + "True\nagain\n", 0), done.stderr)

    def test_handler_of_the_program(self):
        done = script("""
seen = []
signal.signal(signal.SIGINT, lambda *unused: seen.append(1))
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
total = model.spin(3000000)
time.sleep(0.3)
print(total, seen)
""")
        self.assertEqual((done.stdout, done.returncode), (f"{sum(i % 3 for i in range(3000000))} [1]\n", 0), done.stderr)

    def test_interrupt_while_waiting(self):
        done = script("""
thread = threading.Thread(target=lambda: model.spin(10 ** 12), daemon=True)
thread.start()
time.sleep(0.1)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    model.step()
except KeyboardInterrupt:
    print("interrupted")
""")
        self.assertEqual((done.stdout, done.returncode), ("interrupted\n", 0), done.stderr)

    def test_interrupt_during_fast_runs(self):
        done = script("""
def disturb(): # once the one before has been seen, and the loop goes on: none meets the handler
    for i in range(100):
        while entered != i:
            time.sleep(0.0005)
        time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
interrupted, entered = 0, -1
thread = threading.Thread(target=disturb)
thread.start()
while interrupted < 100:
    try:
        entered = interrupted
        while True:
            assert model.spin(10) == 9
    except KeyboardInterrupt:
        interrupted += 1
thread.join()
print(interrupted, model.spin(10))
""")
        self.assertEqual((done.stdout, done.returncode), ("100 9\n", 0), done.stderr)


# GCC 12's AddressSanitizer does not take its allocator's locks before a fork. If another thread holds a lock at that
# time, for example a worker that starts, the child waits for it forever.
needs_fork = unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "AddressSanitizer's allocator does not survive forks")


class Processes(unittest.TestCase):
    @needs_fork
    def test_fork(self):
        done = script("""
assert model.spin(3) == 3
child = os.fork()
if child == 0:
    import numpy
    other = taper.load(sys.argv[1], threads=2)
    x = numpy.ones((4, 3, 64, 64), numpy.float32)
    print(model.spin(3), model.step(), other(x).shape, flush=True)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        model.spin(10 ** 12)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1], model.step())
""", SMALL)
        self.assertEqual((done.stdout, done.returncode), ("3 1 (4, 5)\ninterrupted\n0 1\n", 0), done.stderr)

    @needs_fork
    def test_fork_during_a_run(self):
        done = script("""
thread = threading.Thread(target=lambda: model.spin(10 ** 12), daemon=True)
thread.start()
time.sleep(0.1)
child = os.fork()
if child == 0:
    try:
        model.step()
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
""")
        self.assertIn("was running when the process forked", done.stdout, done.stderr)

    @needs_fork
    def test_fork_with_threads_of_its_own(self):
        done = script("""
import numpy
big = taper.load(sys.argv[1], threads=4)
x = numpy.ones((8, 3, 64, 64), numpy.float32)
wanted = big(x).numpy()
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if (big(x).numpy() == wanted).all() else 1)
    print(os.waitpid(child, 0)[1])
""", SMALL)
        self.assertEqual((done.stdout, done.returncode), ("0\n" * 5, 0), done.stderr)

    def test_end_during_a_run(self):
        done = script("""
threading.Thread(target=lambda: model.spin(10 ** 12), daemon=True).start()
time.sleep(0.1)
print("end")
""")
        self.assertEqual((done.stdout, done.returncode), ("end\n", 0), done.stderr)

    def test_end_with_everything_alive(self):
        done = script("""
import numpy
kept = [taper.tensor(numpy.ones(3)), model.get_weight().numpy(), taper.load(open(sys.argv[1], "rb").read()), model.step, taper.Context()]
import builtins
builtins.kept = kept
print("end")
""", SMALL)
        self.assertEqual((done.stdout, done.returncode, done.stderr), ("end\n", 0, ""))

    def test_subinterpreters(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest("this Python makes no subinterpreters")
        other = interpreters.create()
        text = f"""
import sys
sys.path.insert(0, {support.PACKAGE!r})
try:
    import taper._taper
    raise SystemExit("imported")
except ImportError as error:
    assert "main interpreter" in str(error) or "subinterpreters" in str(error), error
"""
        try:
            self.assertIsNone(interpreters.run_string(other, text))
        finally:
            interpreters.destroy(other)

    def test_imported_twice(self):
        done = script("""
old, first = taper, model.get_weight()
for name in [name for name in sys.modules if name.startswith("taper")]:
    del sys.modules[name]
import taper
assert taper is not old
again = taper.load(sys.argv[1])
try:
    again.alias(first)  # a Tensor of the other module is an array as any other
except TypeError as error:
    print(error)
print(again.alias(first).shape)
del old, model, first
import gc
gc.collect()
print(again.step())
""", VALUES)
        self.assertEqual((done.stdout, done.returncode), ("(2, 3)\n1\n", 0), done.stderr)


if __name__ == "__main__":
    support.main()
