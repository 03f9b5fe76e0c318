// SPDX-License-Identifier: BSD-2-Clause
// The members that the bindings use of a platform class. Only used for compiling, never packaged.
package com.facebook.soloader.nativeloader;

public interface NativeLoaderDelegate {}
