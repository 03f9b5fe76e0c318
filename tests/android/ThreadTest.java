// SPDX-License-Identifier: BSD-2-Clause
// 16 threads on one module, and on 16: the results are those of one thread, to the bit.

import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.pytorch.IValue;
import org.pytorch.Module;
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

  /** The state of one module is changed by one run at a time. */
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

  private ThreadTest() {}
}
