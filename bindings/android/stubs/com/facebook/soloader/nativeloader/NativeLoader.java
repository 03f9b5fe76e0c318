// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
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
