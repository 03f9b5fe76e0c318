// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import android.content.res.AssetManager;
import java.io.FileDescriptor;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * A model, loaded to be run. Its methods may be called from any thread; calls on one module are made one after the
 * other.
 *
 * <p>What goes wrong is a {@link RuntimeException}: {@link IllegalArgumentException} for what a method here refuses, a
 * plain RuntimeException for an exception that the model raised, {@link java.util.concurrent.CancellationException}
 * after {@link #cancel}, and for all else, damaged files and wrong inputs among it, com.facebook.jni.CppException where
 * that class is on the class path, {@link TaperException} where it is not. The module stays usable.
 */
public class Module implements AutoCloseable {

  private final INativePeer mNativePeer;

  /**
   * Loads a model from a file: .pt or .ptl.
   *
   * @param modelPath path of the file
   * @param extraFiles null, or a map with names of files that were saved beside the model as keys: their contents become
   *     its values, "" where there is no such file
   * @param device where the model shall run
   */
  public static Module load(
      final String modelPath, final Map<String, String> extraFiles, final Device device) {
    return new Module(new NativePeer(modelPath, extraFiles, device));
  }

  /** Loads a model from a file, .pt or .ptl, to run on the CPU. */
  public static Module load(final String modelPath) {
    return load(modelPath, null, Device.CPU);
  }

  /** Loads a model from an open file. The descriptor may be closed afterwards. */
  public static Module loadFrom(final FileDescriptor descriptor) {
    return loadFrom(descriptor, 0, 0);
  }

  /**
   * Loads a model from a part of an open file, as AssetFileDescriptor gives it.
   *
   * @param length in bytes; 0: to the end
   */
  public static Module loadFrom(final FileDescriptor descriptor, final long offset, final long length) {
    return new Module(new NativePeer(descriptor, offset, length, Device.CPU));
  }

  /**
   * Loads a model from the bytes between position and limit. Those of a direct buffer are used in place, and must not
   * change while the module, or a tensor that it returned, is in use.
   */
  public static Module loadFrom(final ByteBuffer bytes) {
    return new Module(new NativePeer(bytes, Device.CPU));
  }

  /** Loads a model from an app's assets. It is mapped into memory where the package holds it uncompressed. */
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

  /** Runs a method. Inputs that are missing at the end take the method's defaults. */
  public IValue runMethod(String methodName, IValue... inputs) {
    return mNativePeer.runMethod(methodName, inputs);
  }

  /**
   * Frees the model's memory at once, or when runs in progress end. Without it that happens some time after the module
   * became unreachable. Tensors that it returned stay valid; any further run is a {@link NullPointerException}.
   */
  public void destroy() {
    mNativePeer.resetNative();
  }

  /** As {@link #destroy}. */
  @Override
  public void close() {
    destroy();
  }

  /** Ends the run in progress, or else the next one, with a CancellationException in its thread. From any thread. */
  public void cancel() {
    peer().cancel();
  }

  /**
   * What the model runs on: "cpu", or what its file or {@link Device} names if the phone has it, "nnapi" or "vulkan". The
   * CPU does what that device cannot do, or does more slowly. New in Taper.
   */
  public String device() {
    return peer().device();
  }

  /** The names of the model's methods. */
  public String[] methods() {
    return peer().methods();
  }

  /** The names of a method's inputs, without self; null where the file does not say. */
  public String[] inputNames(String methodName) {
    return every(peer().inputs(methodName), 0);
  }

  /** The types of a method's inputs as PyTorch writes them, "Tensor", "List[int]"; null where the file does not say. */
  public String[] inputTypes(String methodName) {
    return every(peer().inputs(methodName), 1);
  }

  /** The type of what a method returns; null where the file does not say. */
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
