// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

/** What Android's build tools write into every library, and apps may have read. */
public final class BuildConfig {
  public static final boolean DEBUG = false;
  public static final String LIBRARY_PACKAGE_NAME = "org.pytorch";
  public static final String BUILD_TYPE = "release";
}
