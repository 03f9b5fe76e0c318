// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * A loaded model. Its methods may be called from any thread; calls on one module are serialized.
 *
 * <p>Failures are {@link RuntimeException}s: {@link IllegalArgumentException} for arguments that a method here refuses,
 * a plain RuntimeException for an exception that the model raised, and {@link
 * java.util.concurrent.CancellationException} after {@link #cancel}. All other failures, such as damaged files and
 * wrong inputs, are com.facebook.jni.CppException if that class is on the class path, otherwise {@link TaperException}.
 * The module stays usable.
 */
public class Module implements AutoCloseable {

  private final INativePeer mNativePeer;

  /**
   * Loads a model from a .pt or .ptl file.
   *
   * @param modelPath path of the file
   * @param extraFiles null, or a map whose keys are the names of files that were saved with the model; the values
   *     become their contents, "" for a missing file
   * @param device the device on which the model runs
   */
  public static Module load(
      final String modelPath, final Map<String, String> extraFiles, final Device device) {
    return new Module(new NativePeer(modelPath, extraFiles, device));
  }

  /** Loads a model from a .pt or .ptl file, to run on the CPU. */
  public static Module load(final String modelPath) {
    return load(modelPath, null, Device.CPU);
  }

  /** Loads a model from an open file. The descriptor may be closed afterwards. */
  public static Module loadFrom(final FileDescriptor descriptor) {
    return loadFrom(descriptor, 0, 0);
  }

  /**
   * Loads a model from a part of an open file, as described by an AssetFileDescriptor.
   *
   * @param length number of bytes; 0 for the rest of the file
   */
  public static Module loadFrom(final FileDescriptor descriptor, final long offset, final long length) {
    return new Module(new NativePeer(descriptor, offset, length, Device.CPU));
  }

  /**
   * Loads a model from the bytes between position and limit. The bytes of a direct buffer are used in place. They must
   * not change while the module, or a tensor that it returned, is in use.
   */
  public static Module loadFrom(final ByteBuffer bytes) {
    return new Module(new NativePeer(bytes, Device.CPU));
  }

  /** Loads a model from an app's assets. The model is mapped into memory if the package stores it uncompressed. */
  public static Module loadFrom(final AssetManager assetManager, final String assetName) {
    return new Module(new NativePeer(assetName, assetManager, Device.CPU));
  }

  Module(INativePeer nativePeer) {
    this.mNativePeer = nativePeer;
  }

  /** Runs the method forward. */
  public IValue forward(IValue... inputs) {
    return mNativePeer.forward(inputs);
  }

  /** Runs a method. Missing inputs at the end have the method's defaults. */
  public IValue runMethod(String methodName, IValue... inputs) {
    return mNativePeer.runMethod(methodName, inputs);
  }

  /**
   * Frees the model's memory, immediately or when the current runs end. Without this call it is freed some time after
   * the module becomes unreachable. Tensors that the module returned stay valid. A later run throws {@link
   * NullPointerException}.
   */
  public void destroy() {
    mNativePeer.resetNative();
  }

  /** Calls {@link #destroy}. */
  @Override
  public void close() {
    destroy();
  }

  /**
   * Cancels the current run, or the next run if no run is active. The cancelled run throws a CancellationException in
   * its thread. May be called from any thread.
   */
  public void cancel() {
    peer().cancel();
  }

  /**
   * Returns the device of the model: "cpu", or, if the phone has the device that the file or {@link Device} names,
   * "nnapi" or "vulkan". The CPU computes operators that the device cannot run, or runs more slowly. New in Taper.
   */
  public String device() {
    return peer().device();
  }

  /** Returns the names of the model's methods. */
  public String[] methods() {
    return peer().methods();
  }

  /** Returns the names of a method's inputs, without self, or null if the file does not contain them. */
  public String[] inputNames(String methodName) {
    return every(peer().inputs(methodName), 0);
  }

  /**
   * Returns the types of a method's inputs in PyTorch's notation, for example "Tensor" and "List[int]", or null if the
   * file does not contain them.
   */
  public String[] inputTypes(String methodName) {
    return every(peer().inputs(methodName), 1);
  }

  /** Returns the type of a method's result, or null if the file does not contain it. */
  public String returnType(String methodName) {
    return peer().returnType(methodName);
  }

  private static String[] every(String[] pairs, int which) {
    if (pairs == null) {
      return null;
    }
    final String[] some = new String[pairs.length / 2];
    for (int i = 0; i < some.length; i++) {
      some[i] = pairs[2 * i + which];
    }
    return some;
  }

  private NativePeer peer() {
    return (NativePeer) mNativePeer;
  }
}
