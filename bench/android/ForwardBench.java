// SPDX-License-Identifier: BSD-2-Clause

import java.nio.FloatBuffer;
import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;

/**
 * ForwardBench MODEL N,C,H,W: measures Module.forward with a direct buffer in one thread. Prints the median of 41
 * rounds, in microseconds.
 */
final class ForwardBench {
  public static void main(String[] args) {
    String[] parts = args[1].split(",");
    long[] shape = new long[parts.length];
    long count = 1;
    for (int i = 0; i < shape.length; i++) {
      shape[i] = Long.parseLong(parts[i]);
      count *= shape[i];
    }
    PyTorchAndroid.setNumThreads(1);
    Module module = Module.load(args[0]);
    FloatBuffer buffer = Tensor.allocateFloatBuffer((int) count);
    double[] rounds = new double[41];
    int runs = 20;
    for (int r = -20; r < rounds.length; r++) {
      long start = System.nanoTime();
      for (int i = 0; i < runs; i++) {
        module.forward(IValue.from(Tensor.fromBlob(buffer, shape)));
      }
      long time = System.nanoTime() - start;
      if (r >= 0) {
        rounds[r] = time / 1e3 / runs;
      } else if (time < 20e6) {
        runs *= 2;
      }
    }
    java.util.Arrays.sort(rounds);
    System.out.printf("%.2f%n", rounds[rounds.length / 2]);
  }
}
