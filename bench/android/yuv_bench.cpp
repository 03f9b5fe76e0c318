// SPDX-License-Identifier: BSD-2-Clause
// yuv_bench: compares the conversion of camera images to floats with the function that pytorch_android_torchvision has
// for it. The source of that function (android/pytorch_android_torchvision/src/main/cpp in PyTorch) is not part of this
// repository; bench/android/run.sh compiles it with -O2 into this program. For each rotation and memory format the
// results must be bit-identical.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include PUBLISHED_SOURCE
extern "C" {
#include "../../bindings/android/jni/image.h"
}

namespace
{

// PyTorch's function calls JNI twice: to get the address of a buffer, and to get the floats of an array. The two
// functions below replace these calls of JNI.
void *address(JNIEnv *, jobject buffer)
{
    return reinterpret_cast<void *>(buffer);
}

void region(JNIEnv *, jfloatArray array, jsize start, jsize count, jfloat *to)
{
    std::memcpy(to, reinterpret_cast<const jfloat *>(array) + start, static_cast<size_t>(count) * sizeof *to);
}

template <typename T> T handle(const void *p)
{
    return reinterpret_cast<T>(const_cast<void *>(p));
}

template <typename F> double microseconds(F run)
{
    double best = 1e9;
    for (int round = 0; round < 40; round++) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 10; i++) {
            run();
        }
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        best = time.count() / 10 < best ? time.count() / 10 : best;
    }
    return best;
}

} // namespace

int main()
{
    const int width = 640, height = 480, side = 224;
    JNINativeInterface_ functions{};
    functions.GetDirectBufferAddress = address;
    functions.GetFloatArrayRegion = region;
    JNIEnv env{&functions};
    std::vector<uint8_t> y(width * height), uv(width * height / 2 + 1);
    uint32_t random = 1;
    for (auto *plane : {&y, &uv}) {
        for (auto &byte : *plane) {
            random = random * 1664525 + 1013904223;
            byte = static_cast<uint8_t>(random >> 24);
        }
    }
    const image_norm norm = {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
    std::vector<float> want(3 * side * side), got(3 * side * side);
    int status = 0;
    // Bytes between chroma samples: 1 for separate planes, 2 for interleaved planes, which most cameras have.
    for (int pixel = 1; pixel <= 2; pixel++) {
        const int row = width / 2 * pixel;
        const uint8_t *u = uv.data(), *v = pixel == 2 ? u + 1 : u + width * height / 4;
        const size_t bytes = static_cast<size_t>(uv.data() + uv.size() - v);
        const image_yuv image = {y.data(), u, v, y.size(), uv.size(), bytes, width, 1, row, pixel, width, height};
        for (int degrees = 0; degrees < 360; degrees += 90) {
            for (int last = 0; last < 2; last++) {
                const auto published = [&] {
                    pytorch_vision_jni::imageYUV420CenterCropToFloatBuffer(
                        &env, nullptr, handle<jobject>(y.data()), width, 1, handle<jobject>(u), handle<jobject>(v), row,
                        pixel, width, height, degrees, side, side, handle<jfloatArray>(norm.mean),
                        handle<jfloatArray>(norm.std), handle<jobject>(want.data()), 0, 1 + last);
                };
                const image_crop crop = {side, side, degrees};
                const auto ours = [&] { (void)image_from_yuv(&image, &crop, &norm, last != 0, got.data()); };
                const double theirs = microseconds(published), mine = microseconds(ours);
                const bool same = std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0;
                std::printf("uv stride %d, %3d degrees, %-13s  published %7.1f us  ours %7.1f us  %.2f  %s\n", pixel,
                            degrees, last ? "channels last" : "contiguous", theirs, mine, mine / theirs,
                            same ? "same" : "OTHER RESULTS");
                status |= !same;
            }
        }
    }
    return status;
}
