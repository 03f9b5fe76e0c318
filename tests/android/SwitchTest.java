// SPDX-License-Identifier: BSD-2-Clause
// Contains switch expressions over all constants of PyTorch Mobile's enums. Java 14 and Kotlin refuse such an
// expression if the enum has more constants, so the test is that this file compiles: java -cp CLASSES SwitchTest.java

import org.pytorch.DType;
import org.pytorch.Device;
import org.pytorch.MemoryFormat;

final class SwitchTest {
  private static int bytes(DType dtype) {
    return switch (dtype) {
      case UINT8, INT8 -> 1;
      case INT32, FLOAT32 -> 4;
      case INT64, FLOAT64 -> 8;
    };
  }

  private static String name(Device device) {
    return switch (device) {
      case CPU -> "cpu";
      case VULKAN -> "vulkan";
    };
  }

  private static int dimensions(MemoryFormat format) {
    return switch (format) {
      case CONTIGUOUS -> 0;
      case CHANNELS_LAST -> 4;
      case CHANNELS_LAST_3D -> 5;
    };
  }

  public static void main(String[] arguments) {
    int sum = 0;
    for (DType dtype : DType.values()) {
      sum += bytes(dtype);
    }
    boolean good = sum == 26 && name(Device.CPU).equals("cpu") && dimensions(MemoryFormat.CHANNELS_LAST) == 4;
    System.out.println(good ? "1 passed, 0 failed" : "0 passed, 1 failed");
    System.exit(good ? 0 : 1);
  }
}
