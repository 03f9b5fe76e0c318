// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** Loads a library of operators that an app may contain. */
public class PyTorchCodegenLoader {

  /** Loads libtorch-code-gen.so if the app contains it. */
  public static void loadNativeLibs() {
    try {
      NativeLibrary.loadByName("torch-code-gen");
    } catch (Throwable t) {
      // Most apps do not contain libtorch-code-gen.so, so a failure is not an error.
    }
  }

  private PyTorchCodegenLoader() {}
}
