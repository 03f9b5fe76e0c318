// SPDX-License-Identifier: BSD-2-Clause
// Replaces the parts of Metal that the GPU backend uses by one device that computes on the CPU. metal/device.m
// implements it.
#ifndef TAPER_TEST_METAL_H
#define TAPER_TEST_METAL_H

#import <Foundation/Foundation.h>

typedef struct MTLSize {
    NSUInteger width, height, depth;
} MTLSize;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth)
{
    return (MTLSize){width, height, depth};
}

typedef enum MTLResourceOptions { MTLResourceStorageModeShared = 0 } MTLResourceOptions;
typedef enum MTLLanguageVersion { MTLLanguageVersion2_1 = 2 << 16 | 1 } MTLLanguageVersion;
typedef enum MTLDataType { MTLDataTypeUInt = 33 } MTLDataType;
typedef enum MTLDispatchType { MTLDispatchTypeSerial, MTLDispatchTypeConcurrent } MTLDispatchType;
typedef enum MTLBarrierScope { MTLBarrierScopeBuffers = 1 } MTLBarrierScope;
typedef enum MTLCommandBufferStatus {
    MTLCommandBufferStatusCommitted = 2,
    MTLCommandBufferStatusCompleted = 4,
    MTLCommandBufferStatusError = 5
} MTLCommandBufferStatus;
enum { MTLCommandBufferErrorNotPermitted = 7 };

@interface MTLCompileOptions : NSObject
- (void)setFastMathEnabled:(BOOL)enabled;
- (void)setLanguageVersion:(MTLLanguageVersion)version;
@end

@interface MTLFunctionConstantValues : NSObject {
  @public
    uint32_t _values[22]; // values of the function constants 0 to METAL_CONSTANTS - 1 (metal/kernels.h)
}
- (void)setConstantValues:(const void *)values type:(MTLDataType)type withRange:(NSRange)range;
@end

@protocol MTLFunction <NSObject>
@end

@protocol MTLLibrary <NSObject>
- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)values
                                 error:(NSError **)error;
@end

@protocol MTLBuffer <NSObject>
- (void *)contents;
- (NSUInteger)length;
@end

@protocol MTLComputePipelineState <NSObject>
- (NSUInteger)maxTotalThreadsPerThreadgroup;
@end

@protocol MTLComputeCommandEncoder <NSObject>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
- (void)endEncoding;
@end

@protocol MTLCommandBuffer <NSObject>
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type;
- (void)commit;
- (void)waitUntilCompleted;
- (MTLCommandBufferStatus)status;
- (NSError *)error;
- (double)GPUStartTime;
- (double)GPUEndTime;
@end

@protocol MTLCommandQueue <NSObject>
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
@end

@protocol MTLDevice <NSObject>
- (NSString *)name;
- (NSUInteger)maxBufferLength;
- (NSUInteger)maxThreadgroupMemoryLength;
- (MTLSize)maxThreadsPerThreadgroup;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError **)error;
@end

FOUNDATION_EXPORT id<MTLDevice> MTLCreateSystemDefaultDevice(void);

#endif
