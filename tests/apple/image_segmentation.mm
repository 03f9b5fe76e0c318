// SPDX-License-Identifier: BSD-2-Clause
// image_segmentation MODEL IMAGE.ppm: uses the class of examples/ios/ImageSegmentation and prints the share of pixels
// of each class.
#import "ImageSegmentation/ImageSegmentation/TorchBridge/TorchModule.h"

#include <iostream>

#include "picture.h"

static int run(char **argv)
{
    TorchModule *const module =
        [[[TorchModule alloc] initWithFileAtPath:[NSString stringWithUTF8String:argv[1]]] autorelease];
    int width = 0, height = 0;
    std::vector<float> pixels = read_picture(argv[2], &width, &height);
    if (module == nil || pixels.empty()) {
        std::cerr << "image_segmentation: the model or the picture cannot be read\n";
        return 1;
    }
    NSData *const classes = [module segmentImage:pixels.data() withWidth:width withHeight:height];
    if ([classes length] != static_cast<NSUInteger>(width * height)) {
        std::cerr << "image_segmentation: no class for each pixel\n";
        return 1;
    }
    std::vector<double> parts(256);
    for (NSUInteger i = 0; i < [classes length]; i++) {
        parts[static_cast<const unsigned char *>([classes bytes])[i]] += 1.0 / static_cast<double>([classes length]);
    }
    for (size_t i = 0; i < 11; i++) {
        std::cout << parts[i] << "\n";
    }
    return 0;
}

int main(int argc, char **argv)
{
    NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
    const int status = argc == 3 ? run(argv) : 2;
    [pool drain];
    return status;
}
