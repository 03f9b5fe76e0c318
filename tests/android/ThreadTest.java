// SPDX-License-Identifier: BSD-2-Clause
// 16 threads use one module, and then 16 modules. The results must be bit-identical to the results of one thread.

import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;

final class ThreadTest {
  private static final int THREADS = 16, RUNS = 50;

  private static void all(Module[] modules) throws Exception {
    final float[][] ins = new float[THREADS][360], outs = new float[THREADS][];
    Random random = new Random(2);
    for (int i = 0; i < THREADS; i++) {
      for (int k = 0; k < 360; k++) {
        ins[i][k] = random.nextFloat() - 0.5f;
      }
      outs[i] = modules[0].forward(IValue.from(tensor(ins[i]))).toTensor().getDataAsFloatArray();
    }
    final AtomicReference<Throwable> bad = new AtomicReference<>();
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      final int n = i;
      threads[i] =
          new Thread(
              () -> {
                try {
                  for (int k = 0; k < RUNS; k++) {
                    Tensor out = modules[n % modules.length].forward(IValue.from(tensor(ins[n]))).toTensor();
                    Check.same(outs[n], out.getDataAsFloatArray());
                  }
                } catch (Throwable e) {
                  bad.set(e);
                }
              });
      threads[i].start();
    }
    for (Thread t : threads) {
      t.join();
    }
    if (bad.get() != null) {
      throw new AssertionError(bad.get());
    }
  }

  private static Tensor tensor(float[] data) {
    return Tensor.fromBlob(data, new long[] {1, 3, 10, 12});
  }

  static void oneModule() throws Exception {
    all(new Module[] {Module.load(Files.sample("s01_convnet.ptl"))});
  }

  static void sixteenModules() throws Exception {
    Module[] modules = new Module[THREADS];
    for (int i = 0; i < THREADS; i++) {
      modules[i] = Module.load(Files.sample(i % 2 == 0 ? "s01_convnet.ptl" : "s01_convnet.pt"));
    }
    all(modules);
  }

  /** Runs that change the state of one module are serialized. */
  static void stateOfOneModule() throws Exception {
    final Module m = Module.load(Files.model("kinds.ptl"));
    Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
      threads[i] =
          new Thread(
              () -> {
                for (int k = 0; k < RUNS; k++) {
                  m.runMethod("runs");
                }
              });
      threads[i].start();
    }
    for (Thread t : threads) {
      t.join();
    }
    Check.same((long) THREADS * RUNS + 1, m.runMethod("runs").toLong());
  }

  // ---- setNumThreads

  /** Returns the processor time in nanoseconds of each native thread with that name, if the system reports it. */
  private static Map<String, Long> times(String name) throws IOException {
    Map<String, Long> times = new HashMap<>();
    for (File task : new File("/proc/self/task").listFiles()) {
      try {
        if (read(new File(task, "comm")).equals(name)) {
          times.put(task.getName(), Long.parseLong(read(new File(task, "schedstat")).split(" ")[0]));
        }
      } catch (IOException e) {
        // Ignores a thread that has ended meanwhile.
      }
    }
    return times;
  }

  private static String read(File file) throws IOException {
    return new String(java.nio.file.Files.readAllBytes(file.toPath())).trim();
  }

  /**
   * Native threads inherit the name of the thread that creates them. Here one thread loads the module and sets the
   * number of threads, so it creates all workers.
   */
  static void numberOfThreads() throws Exception {
    if (!new File("/proc/self/schedstat").exists()) {
      System.out.println("the system does not tell what its threads do: setNumThreads is not looked at");
      return;
    }
    final AtomicReference<Throwable> bad = new AtomicReference<>();
    Thread setter =
        new Thread(
            () -> {
              try {
                Module before = Module.load(Files.sample("s01_convnet.ptl"));
                final int first = times("setter").size();
                float[] in = new float[3 * 320 * 320];
                Tensor input = Tensor.fromBlob(in, new long[] {1, 3, 320, 320});
                float[] expected = before.forward(IValue.from(input)).toTensor().getDataAsFloatArray();
                PyTorchAndroid.setNumThreads(first + 5);
                for (int i = 0; i < 20; i++) {
                  Check.same(expected, before.forward(IValue.from(input)).toTensor().getDataAsFloatArray());
                }
                Check.that(times("setter").size() >= first + 4, "no more threads: " + first + ", " + times("setter").size());
                // After the number of threads is set to one, the other threads sleep and must not use any CPU time.
                PyTorchAndroid.setNumThreads(1);
                Module after = Module.load(Files.sample("s01_convnet.ptl"));
                Thread.sleep(50);
                Map<String, Long> start = times("setter");
                for (int i = 0; i < 20; i++) {
                  Check.same(expected, before.forward(IValue.from(input)).toTensor().getDataAsFloatArray());
                  Check.same(expected, after.forward(IValue.from(input)).toTensor().getDataAsFloatArray());
                }
                int worked = 0;
                for (Map.Entry<String, Long> now : times("setter").entrySet()) {
                  worked += now.getValue().equals(start.get(now.getKey())) ? 0 : 1;
                }
                Check.same(1, worked); // the calling thread is the only thread that has worked
              } catch (Throwable e) {
                bad.set(e);
              }
            },
            "setter");
    setter.start();
    setter.join();
    PyTorchAndroid.setNumThreads(4);
    if (bad.get() != null) {
      throw new AssertionError(bad.get());
    }
  }

  private ThreadTest() {}
}
