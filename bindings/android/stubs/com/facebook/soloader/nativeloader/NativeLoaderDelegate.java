// SPDX-License-Identifier: BSD-2-Clause
// What the bindings use of a class that the app's platform has: to compile against, never packaged.
package com.facebook.soloader.nativeloader;

public interface NativeLoaderDelegate {}
