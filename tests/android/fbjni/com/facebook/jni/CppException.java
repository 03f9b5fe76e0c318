// SPDX-License-Identifier: BSD-2-Clause
// Stands in for fbjni's class of that name, which an app may have on its class path.
package com.facebook.jni;

public class CppException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public CppException(String message) {
    super(message);
  }
}
