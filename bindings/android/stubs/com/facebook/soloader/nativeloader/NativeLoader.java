// SPDX-License-Identifier: BSD-2-Clause
// The members that the bindings use of a platform class. Only used for compiling, never packaged.
package com.facebook.soloader.nativeloader;

public class NativeLoader {
  public static boolean isInitialized() {
    return false;
  }

  public static void init(NativeLoaderDelegate delegate) {}

  public static boolean loadLibrary(String name) {
    System.loadLibrary(name); // used in tests
    return true;
  }
}
