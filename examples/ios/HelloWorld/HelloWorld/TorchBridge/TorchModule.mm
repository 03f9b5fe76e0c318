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

- (nullable NSArray<NSNumber *> *)predictImage:(void *)imageBuffer
{
    try {
        c10::InferenceMode mode;
        at::Tensor tensor = torch::from_blob(imageBuffer, {1, 3, 96, 96}, at::kFloat);
        at::Tensor outputTensor = _impl.forward({tensor}).toTensor();
        const float *scores = outputTensor.data_ptr<float>();
        if (!scores) {
            return nil;
        }
        NSMutableArray<NSNumber *> *results =
            [NSMutableArray arrayWithCapacity:static_cast<NSUInteger>(outputTensor.numel())];
        for (int64_t i = 0; i < outputTensor.numel(); i++) {
            [results addObject:@(scores[i])];
        }
        return results;
    } catch (const std::exception &exception) {
        NSLog(@"%s", exception.what());
    }
    return nil;
}

@end
