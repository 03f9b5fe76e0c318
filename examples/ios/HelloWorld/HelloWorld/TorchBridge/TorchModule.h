// SPDX-License-Identifier: BSD-2-Clause
// A classifier, for use from Swift.
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

@interface TorchModule : NSObject

- (nullable instancetype)initWithFileAtPath:(NSString *)filePath;
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

// Returns a score for each class. imageBuffer: 3 x 96 x 96 floats, channel after channel.
- (nullable NSArray<NSNumber *> *)predictImage:(void *)imageBuffer;

@end

NS_ASSUME_NONNULL_END
