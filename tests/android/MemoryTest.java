// SPDX-License-Identifier: BSD-2-Clause
// Tests that native memory is freed without a call of destroy(): memory of results, of modules, and memory that an app
// keeps on purpose.

import java.util.ArrayList;
import java.util.List;
import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.Tensor;

final class MemoryTest {
  /** Returns the resident memory of this process in kB, or 0 if the system does not report it. */
  private static long resident() {
    if (!new java.io.File("/proc/self/status").exists()) {
      return 0;
    }
    for (String line : new String(Files.bytes("/proc/self/status")).split("\n")) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    return 0;
  }

  private static void runs(int runs, int floats) {
    Module m = Module.load(Files.model("kinds.ptl"));
    float[] data = new float[floats];
    Tensor in = Tensor.fromBlob(data, new long[] {floats});
    long before = 0;
    for (int i = 0; i < runs; i++) {
      if (i == 100) {
        before = resident();
      }
      m.forward(IValue.from(in));
    }
    long after = resident();
    System.out.println(4 * floats + " bytes: " + before + " kB after 100 runs, " + after + " after " + runs);
    Check.that(after <= before * 1.2, before + " kB after 100 runs, " + after + " after " + runs);
  }

  static void aSmallResults() {
    runs(10000, 1000);
  }

  static void bLargeResults() {
    runs(3000, 150528);
  }

  static void modules() {
    long before = 0;
    for (int i = 0; i < 3000; i++) {
      if (i == 300) {
        before = resident();
      }
      Module.load(Files.model("kinds.ptl"));
    }
    long after = resident();
    System.out.println("modules: " + before + " kB after 300, " + after + " after 3,000");
    Check.that(after <= before * 1.3, "modules: " + before + " kB after 300, " + after + " after 3,000");
  }

  /** Native memory that the app still uses is not freed, and does not cause a garbage collection at each run. */
  static void heldOnPurpose() {
    Module m = Module.load(Files.model("kinds.ptl"));
    Tensor in = Tensor.fromBlob(new float[] {3}, new long[] {1});
    float[] large = new float[100000];
    List<Tensor> kept = new ArrayList<>();
    long start = System.nanoTime();
    for (int i = 0; i < 500; i++) {
      large[0] = i;
      kept.add(m.forward(IValue.from(Tensor.fromBlob(large, new long[] {100000}))).toTensor());
      m.forward(IValue.from(in));
    }
    for (int i = 0; i < 500; i++) {
      Check.same(2f * i, kept.get(i).getDataAsBuffer().getFloat(0));
    }
    System.out.println("200 MB held: " + (System.nanoTime() - start) / 1000000 + " ms");
  }

  private MemoryTest() {}
}
