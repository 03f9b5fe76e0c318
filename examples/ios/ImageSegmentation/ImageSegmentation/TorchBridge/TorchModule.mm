// SPDX-License-Identifier: BSD-2-Clause
#import "TorchModule.h"

#import <LibTorch-Lite/LibTorch-Lite.h>

@implementation TorchModule {
  @protected
    torch::jit::mobile::Module _impl;
}

- (nullable instancetype)initWithFileAtPath:(NSString *)filePath
{
    self = [super init];
    if (self) {
        try {
            _impl = torch::jit::_load_for_mobile(filePath.UTF8String);
        } catch (const std::exception &exception) {
            NSLog(@"%s", exception.what());
            return nil;
        }
    }
    return self;
}

- (nullable NSData *)segmentImage:(void *)imageBuffer withWidth:(int)width withHeight:(int)height
{
    try {
        c10::InferenceMode mode;
        at::Tensor tensor = torch::from_blob(imageBuffer, {1, 3, height, width}, at::kFloat);
        auto outputDict = _impl.forward({tensor}).toGenericDict();
        at::Tensor outputTensor = outputDict.at("out").toTensor();
        const float *scores = outputTensor.data_ptr<float>();
        if (!scores) {
            return nil;
        }
        const int64_t classes = outputTensor.size(1), pixels = outputTensor.size(2) * outputTensor.size(3);
        std::vector<unsigned char> best(static_cast<size_t>(pixels), 0);
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            for (int64_t i = 1; i < classes; i++) {
                unsigned char &so_far = best[static_cast<size_t>(pixel)];
                if (scores[i * pixels + pixel] > scores[so_far * pixels + pixel]) {
                    so_far = static_cast<unsigned char>(i);
                }
            }
        }
        return [NSData dataWithBytes:best.data() length:best.size()];
    } catch (const std::exception &exception) {
        NSLog(@"%s", exception.what());
    }
    return nil;
}

@end
