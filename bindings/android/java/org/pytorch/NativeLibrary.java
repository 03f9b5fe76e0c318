// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import com.facebook.soloader.nativeloader.NativeLoader;
import com.facebook.soloader.nativeloader.SystemDelegate;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;

/**
 * Loads libpytorch_jni.so and declares its functions. A handle is the address of a native object and never 0. The
 * caller of a function ensures that the handle is not released during the call.
 */
public final class NativeLibrary {
  private static volatile boolean loaded;

  private NativeLibrary() {}

  /** @throws UnsatisfiedLinkError at each call, if the library is missing */
  public static void load() {
    if (!loaded) {
      synchronized (NativeLibrary.class) {
        if (!loaded) {
          loadByName("pytorch_jni");
          loaded = true;
          PyTorchCodegenLoader.loadNativeLibs();
        }
      }
    }
  }

  /**
   * Loads a library with the app's nativeloader, or with the system's loader if nativeloader is not on the class path.
   */
  static void loadByName(String name) {
    try {
      Loader.load(name);
    } catch (NoClassDefFoundError e) {
      System.loadLibrary(name);
    }
  }

  /** A separate class, so that a missing nativeloader is only detected here. */
  private static final class Loader {
    static void load(String name) {
      if (!NativeLoader.isInitialized()) {
        NativeLoader.init(new SystemDelegate());
      }
      NativeLoader.loadLibrary(name);
    }
  }

  // Modules. Each of these functions throws the exceptions that the comment of class Module lists.
  static native long loadFile(String path, String device);

  static native long loadDescriptor(FileDescriptor descriptor, long offset, long length, String device);

  /** The buffer must be direct. It is kept until the module and every value over it are released. */
  static native long loadBuffer(ByteBuffer bytes, String device);

  static native IValue run(long module, String method, IValue[] inputs);

  static native void cancel(long module);

  static native void releaseModule(long module);

  /** Returns an estimate of the memory that a module keeps: the size of its file plus a constant. */
  static native long moduleBytes(long module);

  /** Returns "cpu", or the selected device if it is available. */
  static native String device(long module);

  static native String[] methods(long module);

  /** Returns the name and the type of each input, alternating, or null if the file does not contain them. */
  static native String[] inputs(long module, String method);

  static native String returnType(long module, String method);

  /** Returns null if the model has no such file. */
  static native byte[] extraFile(long module, String name);

  static native void setNumThreads(int threads);

  static native void setCacheDir(String path);

  static native void setNnapiEnabled(boolean enabled);

  // Functions for tensors.
  static native void releaseValue(long value);
}
