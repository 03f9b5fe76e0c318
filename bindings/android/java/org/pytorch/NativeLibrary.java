// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import com.facebook.soloader.nativeloader.NativeLoader;
import com.facebook.soloader.nativeloader.SystemDelegate;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;

/**
 * libpytorch_jni.so: loads it and declares its functions. A handle is the address of a native object, never 0; whoever
 * calls a function with one sees to it that it is not released meanwhile.
 */
public final class NativeLibrary {
  private static volatile boolean loaded;

  private NativeLibrary() {}

  /** @throws UnsatisfiedLinkError where the library is missing, each time. */
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

  /** As the app's loader does it, or the system's where nativeloader is not on the class path. */
  static void loadByName(String name) {
    try {
      Loader.load(name);
    } catch (NoClassDefFoundError e) {
      System.loadLibrary(name);
    }
  }

  /** A class of its own, so that its absence shows here and nowhere else. */
  private static final class Loader {
    static void load(String name) {
      if (!NativeLoader.isInitialized()) {
        NativeLoader.init(new SystemDelegate());
      }
      NativeLoader.loadLibrary(name);
    }
  }

  // Modules. Each of these throws what the class comment of Module says.
  static native long loadFile(String path, String device);

  static native long loadDescriptor(FileDescriptor descriptor, long offset, long length, String device);

  /** The buffer is direct, and kept until the module and every value over it are gone. */
  static native long loadBuffer(ByteBuffer bytes, String device);

  static native IValue run(long module, String method, IValue[] inputs);

  static native void cancel(long module);

  static native void releaseModule(long module);

  /** About what a module holds: its file, and what a small one takes. */
  static native long moduleBytes(long module);

  /** "cpu", or what it runs on as far as that is there. */
  static native String device(long module);

  static native String[] methods(long module);

  /** Name and type of each input in turn; null where the file does not say. */
  static native String[] inputs(long module, String method);

  static native String returnType(long module, String method);

  /** null: the model has no such file. */
  static native byte[] extraFile(long module, String name);

  static native void setNumThreads(int threads);

  static native void setCacheDir(String path);

  static native void setNnapiEnabled(boolean enabled);

  // Tensors.
  static native void releaseValue(long value);
}
