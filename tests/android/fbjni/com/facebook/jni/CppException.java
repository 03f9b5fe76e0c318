// SPDX-License-Identifier: BSD-2-Clause
// Replaces fbjni's class of this name, which an app may have on its class path.
package com.facebook.jni;

public class CppException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public CppException(String message) {
    super(message);
  }
}
