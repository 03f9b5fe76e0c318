// SPDX-License-Identifier: BSD-2-Clause
// Runs files that PyTorch converted for NNAPI, with an emulation of Android's library on LD_LIBRARY_PATH. The class
// Absent runs without that library.

import org.pytorch.Device;
import org.pytorch.IValue;
import org.pytorch.LiteModuleLoader;
import org.pytorch.Module;
import org.pytorch.PyTorchAndroid;
import org.pytorch.Tensor;

final class NnapiTest {
  private static final String CONVERTED = Files.model("../nnapi/conv_and_relu_flexible_float_nhwc.ptl");

  private static float[] run(Module module) {
    float[] numbers = new float[2 * 3 * 8 * 13];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (float) Math.sin(i);
    }
    float[] result = null;
    for (int i = 0; i < 8; i++) { // eight runs, because the library compares the first runs on the device with the CPU
      result = module.forward(IValue.from(Tensor.fromBlob(numbers, SHAPE))).toTensor().getDataAsFloatArray();
    }
    return result;
  }

  private static final long[] SHAPE = {2, 3, 8, 13};

  static void run() throws Exception {
    float[] wanted;
    PyTorchAndroid.setNnapiEnabled(false);
    try (Module cpu = Module.load(CONVERTED)) {
      Check.same("cpu", cpu.device());
      wanted = run(cpu);
    } finally {
      PyTorchAndroid.setNnapiEnabled(true);
    }
    Module[] modules = {
      Module.load(CONVERTED), Module.load(CONVERTED, null, Device.CPU), LiteModuleLoader.load(CONVERTED)
    };
    for (Module module : modules) {
      Check.same("nnapi", module.device());
      float[] got = run(module);
      Check.same(wanted.length, got.length);
      for (int i = 0; i < got.length; i++) {
        Check.that(Math.abs(got[i] - wanted[i]) <= 1e-4f, "element " + i + ": " + got[i] + ", not " + wanted[i]);
      }
      module.destroy();
    }
    try (Module plain = Module.load(Files.model("kinds.ptl"))) {
      Check.same("cpu", plain.device());
    }
  }

  static final class Absent {
    static void run() {
      try (Module module = Module.load(CONVERTED)) {
        Check.same("cpu", module.device());
        NnapiTest.run(module);
      }
    }
  }
}
