// SPDX-License-Identifier: BSD-2-Clause
// Runs the sample models with both loaders, and passes every kind of value.

import java.util.Map;
import org.pytorch.DType;
import org.pytorch.IValue;
import org.pytorch.LiteModuleLoader;
import org.pytorch.Module;
import org.pytorch.Tensor;

final class SampleTest {
  static void everyFileOfANetwork() {
    Tensor in = Files.npy("s01_convnet.c0.in0.npy"), out = Files.npy("s01_convnet.c0.out.npy");
    for (String file : new String[] {"s01_convnet.pt", "s01_convnet.ptl", "s01_convnet.fb.ptl"}) {
      for (Module m : new Module[] {Module.load(Files.sample(file)), LiteModuleLoader.load(Files.sample(file))}) {
        IValue result = m.forward(IValue.from(in));
        Check.that(result.isTensor(), "tensor");
        Check.same(DType.FLOAT32, result.toTensor().dtype());
        Files.close(out, result.toTensor());
        m.destroy();
        Files.close(out, result.toTensor()); // read after the module was destroyed, because results outlive it
      }
    }
  }

  static void controlFlow() {
    try (Module m = Module.load(Files.sample("s03_control_flow.bc7.ptl"))) {
      IValue[] tuple =
          m.forward(IValue.from(Files.npy("s03_control_flow.c0.in0.npy")), IValue.from(4), IValue.from(true)).toTuple();
      Files.close(Files.npy("s03_control_flow.c0.out_0.npy"), tuple[0].toTensor());
      Check.same(4L, tuple[1].toLong());
    }
  }

  static void containers() {
    try (Module m = Module.load(Files.sample("s04_containers.ptl"))) {
      IValue[] out = m.forward(IValue.from(Files.npy("s04_containers.c0.in0.npy"))).toTuple();
      Map<String, IValue> dict = out[0].toDictStringKey();
      Check.same("[in, sum]", dict.keySet().toString());
      Files.close(Files.npy("s04_containers.c0.out_0_v1.npy"), dict.get("sum").toTensor());
      Check.that(out[1].isTensorList() && !out[1].isList(), "List[Tensor]");
      Check.same(3, out[1].toTensorList().length);
      Check.same(0, out[1].toTensorList()[0].shape().length);
      Files.close(Files.npy("s04_containers.c0.out_2_0.npy"), out[2].toTuple()[0].toTensor());
      Check.same("n=3 k=in", out[3].toStr());
      Check.that(out[4].toBool(), "bool");
      Check.same(new long[] {70000, 5000000000L}, out[5].toLongList());
      Check.same(new long[] {3, 4}, out[6].toLongList());
      Check.same(new double[] {0.5, Double.POSITIVE_INFINITY}, out[7].toDoubleList());
      Check.same(2L, out[8].toLong());
    }
  }

  static void methodsAndState() {
    try (Module m = Module.load(Files.sample("s05_methods.ptl"))) {
      Files.close(
          Files.npy("s05_methods.c0.out.npy"), m.forward(IValue.from(Files.npy("s05_methods.c0.in0.npy"))).toTensor());
      Files.close(
          Files.npy("s05_methods.c1.out.npy"),
          m.runMethod("twice", IValue.from(Files.npy("s05_methods.c1.in0.npy"))).toTensor());
      Check.same(4L, m.runMethod("set_count", IValue.from(4)).toLong());
      Files.close(
          Files.npy("s05_methods.c3.out.npy"), m.forward(IValue.from(Files.npy("s05_methods.c3.in0.npy"))).toTensor());
      Check.that(java.util.Arrays.asList(m.methods()).contains("twice"), "methods()");
      Check.same(new String[] {"Tensor"}, m.inputTypes("forward"));
      Check.same("Tensor", m.returnType("forward"));
      Check.same(1, m.inputNames("set_count").length);
    }
  }

  private SampleTest() {}
}
