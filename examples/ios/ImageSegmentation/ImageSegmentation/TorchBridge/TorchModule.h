// SPDX-License-Identifier: BSD-2-Clause
// A DeepLabV3 model, for use from Swift.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

@interface TorchModule : NSObject

- (nullable instancetype)initWithFileAtPath:(NSString *)filePath;
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

// Returns the class of each pixel as a byte. imageBuffer: 3 x height x width floats, channel after channel.
- (nullable NSData *)segmentImage:(void *)imageBuffer withWidth:(int)width withHeight:(int)height;

@end

NS_ASSUME_NONNULL_END
