// SPDX-License-Identifier: BSD-2-Clause
// Plays the role of the reader's app after the tutorial's code has loaded a module: runs the module on floats and
// writes the floats of the result.

package dev.taper.tutorials;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import org.pytorch.IValue;
import org.pytorch.Module;
import org.pytorch.Tensor;

public final class Runner {
  /**
   * arguments: a file of floats, their shape such as 1,3,64,64, the output file, and the key of the result if it is a
   * dict.
   */
  public static void run(Module module, String[] arguments) throws IOException {
    String[] sizes = arguments[1].split(",");
    long[] shape = new long[sizes.length];
    for (int i = 0; i < shape.length; i++) {
      shape[i] = Long.parseLong(sizes[i]);
    }
    ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(new File(arguments[0]).toPath())).order(ByteOrder.LITTLE_ENDIAN);
    float[] values = new float[in.remaining() / 4];
    in.asFloatBuffer().get(values);
    IValue result = module.forward(IValue.from(Tensor.fromBlob(values, shape)));
    Tensor tensor = arguments.length > 3 ? result.toDictStringKey().get(arguments[3]).toTensor() : result.toTensor();
    float[] floats = tensor.getDataAsFloatArray();
    ByteBuffer out = ByteBuffer.allocate(4 * floats.length).order(ByteOrder.LITTLE_ENDIAN);
    out.asFloatBuffer().put(floats);
    Files.write(new File(arguments[2]).toPath(), out.array());
    module.destroy();
  }

  private Runner() {}
}
