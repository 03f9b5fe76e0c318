// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Map;

/**
 * A native module. It is released when no call uses it and it is unreachable or reset: see {@link #resetNative} and
 * {@link Reclaimer}.
 */
class NativePeer implements INativePeer {
  private static final Charset UTF_8 = Charset.forName("UTF-8");

  private final Reclaimer reclaimer;
  // Guarded by this object's lock.
  private long handle;
  private int users;
  private boolean closed;

  NativePeer(String moduleAbsolutePath, Map<String, String> extraFiles, Device device) {
    this(open(moduleAbsolutePath, device), extraFiles);
  }

  NativePeer(String assetName, AssetManager assetManager, Device device) {
    this(Assets.open(assetManager, assetName, device), null);
  }

  NativePeer(FileDescriptor descriptor, long offset, long length, Device device) {
    this(open(descriptor, offset, length, device), null);
  }

  NativePeer(ByteBuffer bytes, Device device) {
    this(open(bytes, device), null);
  }

  private NativePeer(long handle, Map<String, String> extraFiles) {
    this.handle = handle;
    reclaimer = Reclaimer.ofModule(this, handle, NativeLibrary.moduleBytes(handle));
    if (extraFiles != null) {
      fill(extraFiles);
    }
  }

  private static long open(String path, Device device) {
    if (path == null) {
      throw new NullPointerException("Model path must be not null");
    }
    NativeLibrary.load();
    return NativeLibrary.loadFile(path, nameOf(device));
  }

  private static long open(FileDescriptor descriptor, long offset, long length, Device device) {
    if (descriptor == null) {
      throw new NullPointerException("File descriptor must be not null");
    }
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException("Offset and length must be non negative");
    }
    NativeLibrary.load();
    return NativeLibrary.loadDescriptor(descriptor, offset, length, nameOf(device));
  }

  static long open(ByteBuffer bytes, Device device) {
    if (bytes == null) {
      throw new NullPointerException("Buffer must be not null");
    }
    ByteBuffer direct = bytes.slice();
    if (!direct.isDirect()) {
      direct = Tensor.allocateByteBuffer(bytes.remaining());
      direct.put(bytes.duplicate());
    }
    NativeLibrary.load();
    return NativeLibrary.loadBuffer(direct, nameOf(device));
  }

  static String nameOf(Device device) {
    if (device == null) {
      throw new NullPointerException("Device must be not null");
    }
    return device.nativeName;
  }

  /** Sets each value of the map to the contents of the model's extra file that the key names, or to "" if the model has
   * no such file. */
  private void fill(Map<String, String> extraFiles) {
    try {
      for (Map.Entry<String, String> file : extraFiles.entrySet()) {
        byte[] text = NativeLibrary.extraFile(handle, file.getKey());
        file.setValue(text == null ? "" : new String(text, UTF_8));
      }
    } catch (RuntimeException e) {
      reclaimer.release();
      throw e;
    }
  }

  /** Returns the handle, which is valid until {@link #leave}. */
  private synchronized long enter() {
    if (closed) {
      throw new NullPointerException("The module was destroyed");
    }
    users++;
    return handle;
  }

  private synchronized void leave() {
    if (--users == 0 && closed) {
      reclaimer.release();
    }
  }

  /** Releases the module, immediately or when the current runs end. */
  @Override
  public synchronized void resetNative() {
    closed = true;
    if (users == 0) {
      reclaimer.release();
    }
  }

  @Override
  public IValue forward(IValue... inputs) {
    return runMethod("forward", inputs);
  }

  @Override
  public IValue runMethod(String methodName, IValue... inputs) {
    if (methodName == null) {
      throw new NullPointerException("Method name must be not null");
    }
    if (inputs == null) {
      throw new NullPointerException("Inputs must be not null");
    }
    final long module = enter();
    try {
      return NativeLibrary.run(module, methodName, inputs);
    } finally {
      leave();
    }
  }

  void cancel() {
    final long module = enter();
    try {
      NativeLibrary.cancel(module);
    } finally {
      leave();
    }
  }

  String device() {
    final long module = enter();
    try {
      return NativeLibrary.device(module);
    } finally {
      leave();
    }
  }

  String[] methods() {
    final long module = enter();
    try {
      return NativeLibrary.methods(module);
    } finally {
      leave();
    }
  }

  String[] inputs(String method) {
    final long module = enter();
    try {
      return NativeLibrary.inputs(module, method);
    } finally {
      leave();
    }
  }

  String returnType(String method) {
    final long module = enter();
    try {
      return NativeLibrary.returnType(module, method);
    } finally {
      leave();
    }
  }
}
