// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** Loads a library of operators that an app may bring along. */
public class PyTorchCodegenLoader {

  /** Loads libtorch-code-gen.so where the app has one. */
  public static void loadNativeLibs() {
    try {
      NativeLibrary.loadByName("torch-code-gen");
    } catch (Throwable t) {
      // Nearly no app has it.
    }
  }

  private PyTorchCodegenLoader() {}
}
