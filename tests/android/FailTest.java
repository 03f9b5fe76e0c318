// SPDX-License-Identifier: BSD-2-Clause
// Makes each native allocation of each entry point fail once. The result must be a RuntimeException or a success, never
// an Error, and modules must remain usable. The test uses a special build of the library: fail.c.

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.pytorch.Device;
import org.pytorch.IValue;
import org.pytorch.MemoryFormat;
import org.pytorch.Module;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;

final class FailTest {
  private static final String KINDS = Files.model("kinds.ptl");
  private static final long[] ONE = {1};
  private static Module m;

  private static native boolean failAfter(int count);

  private static Tensor tensor(float x) {
    return Tensor.fromBlob(new float[] {x}, ONE);
  }

  /** step: one of `step` allocations, on average, is made to fail. */
  private static void each(String what, int step, Check.Action action) throws Exception {
    int failures = 0, refused = 0;
    failAfter(-1);
    action.run(); // loads classes and creates cached objects before counting
    for (int n = 0; ; n += 1 + (step > 1 ? (n * 7) % step : 0)) {
      failAfter(n);
      try {
        action.run();
      } catch (RuntimeException e) {
        refused++;
        Check.that(String.valueOf(e.getMessage()).toLowerCase().contains("memory"), what + ", allocation " + n + ": " + e);
      } finally {
        if (!failAfter(-1)) {
          break;
        }
      }
      failures++;
      Check.same(4f, m.forward(IValue.from(tensor(2))).toTensor().getDataAsFloatArray()[0]);
    }
    System.out.println(what + ": " + failures + " failures, " + refused + " exceptions");
    Check.that(failures > 0, what + ": nothing was allocated");
  }

  static void everyEntry() throws Exception {
    PyTorchAndroid.setNumThreads(1);
    m = Module.load(KINDS);
    each("load", 41, () -> Module.load(KINDS).destroy());
    each("load with extra files", 43, () -> {
      Map<String, String> extra = new HashMap<>();
      extra.put("none", "");
      extra.put("info.txt", "");
      Module.load(KINDS, extra, Device.CPU).destroy();
    });
    byte[] bytes = Files.bytes(KINDS);
    each("loadFrom a buffer", 47, () -> Module.loadFrom(ByteBuffer.wrap(bytes)).destroy());
    each("loadFrom a descriptor", 53, () -> {
      try (FileInputStream in = new FileInputStream(KINDS)) {
        Module.loadFrom(in.getFD()).destroy();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    });
    each("a missing file", 1, () -> {
      try {
        Module.load("/nothing.ptl");
      } catch (RuntimeException e) {
        if (!e.getMessage().contains("/nothing.ptl")) {
          throw e;
        }
      }
    });
    each("inputTypes", 1, () -> m.inputTypes("forward"));
    each("returnType", 1, () -> m.returnType("forward"));
    each("forward", 1, () -> m.forward(IValue.from(tensor(1))));
    each("a dense copy", 1, () -> m.runMethod("transpose", IValue.from(Tensor.fromBlob(new float[6], new long[] {2, 3}))));
    each("channels last", 1, () -> m.runMethod("same", IValue.from(Tensor.fromBlob(new float[24], new long[] {1, 2, 3, 4}, MemoryFormat.CHANNELS_LAST))));
    each("quantized", 1, () -> m.runMethod("dequantize", m.runMethod("quantize", IValue.from(tensor(1)))));
    each("text", 1, () -> m.runMethod("text", IValue.from(String.join("", Collections.nCopies(300, "ü")))));
    each("bools", 1, () -> m.runMethod("bools", IValue.listFrom(true, false)));
    each("longs", 1, () -> m.runMethod("longs", IValue.listFrom(new long[100])));
    each("doubles", 1, () -> m.runMethod("doubles", IValue.listFrom(1.5, 2)));
    each("tensors", 1, () -> m.runMethod("tensors", IValue.listFrom(tensor(1), tensor(2))));
    each("strings", 1, () -> m.runMethod("strings", IValue.listFrom(IValue.from("a"), IValue.from("b"))));
    each("nested", 1, () -> m.runMethod("nested", m.runMethod("nested", IValue.listFrom(IValue.listFrom(1, 2), IValue.listFrom(3L)))));
    each("by_name", 1, () -> m.runMethod("by_name", m.runMethod("by_name", IValue.dictStringKeyFrom(Collections.singletonMap("a", IValue.from(1))))));
    each("by_number", 1, () -> m.runMethod("by_number", IValue.dictLongKeyFrom(Collections.singletonMap(1L, IValue.from(tensor(1))))));
    each("scalar", 1, () -> m.runMethod("scalar", IValue.from(true), IValue.from(1), IValue.from(2.0)));
    each("complex", 1, () -> m.runMethod("magnitude", m.runMethod("complexes")));
    IValue[] many = new IValue[20];
    Arrays.fill(many, IValue.from(1));
    each("many inputs", 1, () -> {
      try {
        m.forward(many);
      } catch (RuntimeException e) {
        if (!e.getMessage().contains("20")) {
          throw e;
        }
      }
    });
    each("an exception of the model", 1, () -> {
      try {
        m.runMethod("fail", IValue.from("mine"));
      } catch (RuntimeException e) {
        if (!e.getMessage().contains("mine")) {
          throw e;
        }
      }
    });
  }

  private FailTest() {}
}
