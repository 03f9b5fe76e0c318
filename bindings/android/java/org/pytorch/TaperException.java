// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** A failure to load or run a model. It is thrown if com.facebook.jni.CppException is not on the class path. */
public class TaperException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TaperException(String message) {
    super(message);
  }
}
