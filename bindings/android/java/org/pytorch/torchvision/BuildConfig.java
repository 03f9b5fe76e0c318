// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch.torchvision;

/** The class that Android's build tools generate for each library, which apps may use. */
public final class BuildConfig {
  public static final boolean DEBUG = false;
  public static final String LIBRARY_PACKAGE_NAME = "org.pytorch.torchvision";
  public static final String BUILD_TYPE = "release";
}
