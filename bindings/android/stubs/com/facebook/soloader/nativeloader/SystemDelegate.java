// SPDX-License-Identifier: BSD-2-Clause
// A platform class with only the members that the bindings use, for compiling; it is never packaged.
package com.facebook.soloader.nativeloader;

public class SystemDelegate implements NativeLoaderDelegate {}
