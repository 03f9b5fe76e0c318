// SPDX-License-Identifier: BSD-2-Clause
// Reads a binary PPM with one byte for each colour and converts the picture to the model's input in the same way as the
// Swift code of the example apps: all red, then all green, then all blue values, each minus its mean and divided by its
// standard deviation.
#ifndef TAPER_TEST_PICTURE_H
#define TAPER_TEST_PICTURE_H

#include <cstdio>
#include <vector>

inline std::vector<float> read_picture(const char *path, int *width, int *height)
{
    const float mean[] = {0.485F, 0.456F, 0.406F}, deviation[] = {0.229F, 0.224F, 0.225F};
    std::vector<float> numbers;
    FILE *const file = std::fopen(path, "rb");
    if (file != nullptr && std::fscanf(file, "P6 %4d %4d 255", width, height) == 2 && *width > 0 && *height > 0) {
        const size_t count = static_cast<size_t>(*width * *height);
        std::vector<unsigned char> bytes(3 * count);
        (void)std::fgetc(file);
        if (std::fread(bytes.data(), 3, count, file) == count) {
            numbers.resize(3 * count);
            for (size_t i = 0; i < 3 * count; i++) {
                numbers[i % 3 * count + i / 3] = (static_cast<float>(bytes[i]) / 255 - mean[i % 3]) / deviation[i % 3];
            }
        }
    }
    if (file != nullptr) {
        std::fclose(file);
    }
    return numbers;
}

#endif
