// SPDX-License-Identifier: BSD-2-Clause
// libpytorch_jni_lite.so and libtorchvision_ops.so, which apps load by name. They contain no code and depend on
// libpytorch_jni.so, so that the loader finds all symbols there.
extern const char taper_stub; // some tools do not accept a library without symbols
__attribute__((visibility("default"))) const char taper_stub = 0;
