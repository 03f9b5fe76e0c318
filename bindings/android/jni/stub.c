// SPDX-License-Identifier: BSD-2-Clause
// libpytorch_jni_lite.so and libtorchvision_ops.so: apps load them by name. All code is in libpytorch_jni.so, which
// they need; the loader finds it there.
extern const char taper_stub; // a library with no symbol at all is none to some tools
__attribute__((visibility("default"))) const char taper_stub = 0;
