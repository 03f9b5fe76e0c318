// SPDX-License-Identifier: BSD-2-Clause
// Implements Metal with one device that runs the kernels' C++ and checks the rules of Metal's own validation. Commands
// between two barriers run in reverse order, because their order is unspecified.
#import <Metal/Metal.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "metal/kernels.h"

enum { MOST_BYTES = 1 << 28, CONSTANT_OFFSETS = 256, MOST_THREADS = 128 };

metal_fault metal_fault_now;
static atomic_size_t alive;

size_t metal_alive(void)
{
    return atomic_load(&alive);
}

static void demand(bool holds, const char *rule)
{
    if (!holds) {
        fprintf(stderr, "Metal: %s\n", rule);
        abort();
    }
}

static NSError *error_of(const char *text, NSInteger code)
{
    const id values[] = {[NSString stringWithUTF8String:text]};
    const id keys[] = {NSLocalizedDescriptionKey};
    return [NSError errorWithDomain:@"Metal"
                               code:code
                           userInfo:[NSDictionary dictionaryWithObjects:values forKeys:keys count:1]];
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// An object that counts its live instances.
@interface FakeObject : NSObject
@end

@implementation FakeObject

- (instancetype)init
{
    atomic_fetch_add(&alive, 1);
    return self;
}

- (void)dealloc
{
    atomic_fetch_sub(&alive, 1);
    [super dealloc];
}

@end

@implementation MTLCompileOptions

- (void)setFastMathEnabled:(BOOL)enabled
{
    demand(!enabled, "kernels are made for exact arithmetic");
}

- (void)setLanguageVersion:(MTLLanguageVersion)version
{
    demand(version == MTLLanguageVersion2_1, "iOS 12 has version 2.1");
}

@end

@implementation MTLFunctionConstantValues

- (void)setConstantValues:(const void *)values type:(MTLDataType)type withRange:(NSRange)range
{
    demand(type == MTLDataTypeUInt && range.location + range.length <= METAL_CONSTANTS, "constants are numbers");
    memcpy(_values + range.location, values, range.length * sizeof *_values);
}

@end

// ---- objects made by a device

@interface FakeFunction : FakeObject <MTLFunction> {
  @public
    const metal_kernel *_kernel;
    uint32_t _constants[METAL_CONSTANTS];
}
@end

@implementation FakeFunction
@end

@interface FakeLibrary : FakeObject <MTLLibrary> {
  @public
    const metal_kernel *_kernel;
}
@end

@implementation FakeLibrary

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)values
                                 error:(NSError **)error
{
    demand([name isEqualToString:[NSString stringWithUTF8String:"main0"]], "the function is main0");
    if (metal_fault_now == METAL_NO_FUNCTION) {
        *error = error_of("a constant was made to fail", 1);
        return nil;
    }
    FakeFunction *const function = [[FakeFunction alloc] init];
    function->_kernel = _kernel;
    memcpy(function->_constants, values->_values, sizeof function->_constants);
    return function;
}

@end

@interface FakePipeline : FakeObject <MTLComputePipelineState> {
  @public
    const metal_kernel *_kernel;
    uint32_t _constants[METAL_CONSTANTS];
}
@end

@implementation FakePipeline

- (NSUInteger)maxTotalThreadsPerThreadgroup
{
    return metal_fault_now == METAL_FEW_THREADS ? 1 : MOST_THREADS;
}

@end

@interface FakeBuffer : FakeObject <MTLBuffer> {
  @public
    char *_bytes;
    NSUInteger _length;
}
@end

@implementation FakeBuffer

- (void)dealloc
{
    free(_bytes);
    [super dealloc];
}

- (void *)contents
{
    return _bytes;
}

- (NSUInteger)length
{
    return _length;
}

@end

// ---- commands

typedef struct command {
    FakePipeline *pipeline;
    void *buffers[METAL_BUFFERS];
    uint32_t groups[3], threads[3];
} command;

@interface FakeCommands : FakeObject <MTLCommandBuffer, MTLComputeCommandEncoder> {
  @public
    FakePipeline *_pipeline;
    void *_buffers[METAL_BUFFERS];
    command *_commands; // commands that were encoded since the last barrier
    size_t _count;
    bool _encoding, _ended, _committed;
    MTLCommandBufferStatus _status;
    NSError *_error;
    double _begin, _end;
}
@end

@implementation FakeCommands

- (void)dealloc
{
    free(_commands);
    [_error release];
    [super dealloc];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type
{
    demand(type == MTLDispatchTypeConcurrent && !_encoding, "one encoder, of concurrent dispatches");
    _encoding = metal_fault_now != METAL_NO_ENCODER;
    return _encoding ? self : nil;
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state
{
    _pipeline = (FakePipeline *)state;
}

- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index
{
    FakeBuffer *const b = (FakeBuffer *)buffer;
    demand(b != nil && index < METAL_BUFFERS && offset < b->_length, "an offset lies in its buffer");
    demand(offset % (index == METAL_BUFFERS - 1 ? CONSTANT_OFFSETS : 16) == 0, "offsets are multiples");
    _buffers[index] = b->_bytes + offset;
}

- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads
{
    demand(_encoding && !_ended && _pipeline != nil, "a dispatch has a pipeline");
    demand(groups.width != 0 && groups.height != 0 && groups.depth != 0, "there are groups");
    demand(threads.width * threads.height * threads.depth <= MOST_THREADS, "a group has no more threads than may be");
    for (size_t i = 0; i < METAL_BUFFERS; i++) {
        demand(_buffers[i] != NULL, "every buffer is bound");
    }
    _commands = realloc(_commands, (_count + 1) * sizeof *_commands);
    command *const c = &_commands[_count++];
    *c = (command){_pipeline,
                   {0},
                   {(uint32_t)groups.width, (uint32_t)groups.height, (uint32_t)groups.depth},
                   {(uint32_t)threads.width, (uint32_t)threads.height, (uint32_t)threads.depth}};
    memcpy(c->buffers, _buffers, sizeof _buffers);
}

- (void)memoryBarrierWithScope:(MTLBarrierScope)scope
{
    demand(scope == MTLBarrierScopeBuffers && !_ended, "barriers are of buffers");
    for (size_t i = _count; i-- > 0;) {
        const command *const c = &_commands[i];
        memcpy(metal_constants, c->pipeline->_constants, sizeof metal_constants);
        for (uint32_t z = 0; z < c->groups[2]; z++) {
            for (uint32_t y = 0; y < c->groups[1]; y++) {
                for (uint32_t x = c->groups[0]; x-- > 0;) {
                    metal_run_group(c->pipeline->_kernel, c->buffers, (const uint32_t[]){x, y, z}, c->threads);
                }
            }
        }
    }
    _count = 0;
}

- (void)endEncoding
{
    demand(_encoding && !_ended, "an encoder ends once");
    _ended = true;
}

- (void)commit
{
    demand(_ended && !_committed, "a buffer is committed once, after its encoder ended");
    _committed = true;
    _begin = seconds();
    if (metal_fault_now == METAL_ERROR || metal_fault_now == METAL_NOT_PERMITTED) {
        const bool permitted = metal_fault_now == METAL_ERROR;
        _status = MTLCommandBufferStatusError;
        _error = [error_of(permitted ? "a command was made to fail" : "the app is in the background",
                           permitted ? 1 : MTLCommandBufferErrorNotPermitted) retain];
        return;
    }
    _ended = false;
    [self memoryBarrierWithScope:MTLBarrierScopeBuffers];
    _end = seconds();
    _status = MTLCommandBufferStatusCommitted;
}

- (void)waitUntilCompleted
{
    demand(_committed, "what is waited for was committed");
    _status = _status == MTLCommandBufferStatusCommitted ? MTLCommandBufferStatusCompleted : _status;
}

- (MTLCommandBufferStatus)status
{
    return _status;
}

- (NSError *)error
{
    return _error;
}

- (double)GPUStartTime
{
    return _begin;
}

- (double)GPUEndTime
{
    return _end;
}

@end

@interface FakeQueue : FakeObject <MTLCommandQueue>
@end

@implementation FakeQueue

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences
{
    return [[[FakeCommands alloc] init] autorelease];
}

@end

// ---- the device

@interface FakeDevice : FakeObject <MTLDevice>
@end

@implementation FakeDevice

- (NSString *)name
{
    return [NSString stringWithUTF8String:"Stand-in GPU"];
}

- (NSUInteger)maxBufferLength
{
    return MOST_BYTES;
}

- (NSUInteger)maxThreadgroupMemoryLength
{
    return 16384;
}

- (MTLSize)maxThreadsPerThreadgroup
{
    return MTLSizeMake(MOST_THREADS, MOST_THREADS, 64);
}

- (id<MTLCommandQueue>)newCommandQueue
{
    return metal_fault_now == METAL_NO_QUEUE ? nil : [[FakeQueue alloc] init];
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options
{
    demand(length != 0 && length <= MOST_BYTES && options == MTLResourceStorageModeShared, "buffers are shared");
    if (metal_fault_now == METAL_NO_BUFFER) {
        return nil;
    }
    FakeBuffer *const buffer = [[FakeBuffer alloc] init];
    if (posix_memalign((void **)&buffer->_bytes, 4096, length) != 0) {
        abort();
    }
    buffer->_length = length;
    memset(buffer->_bytes, 0xA5, length); // new memory has undefined contents
    return buffer;
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source options:(MTLCompileOptions *)options error:(NSError **)error
{
    (void)options;
    const uint64_t hash = metal_hash([source UTF8String], strlen([source UTF8String]));
    if (metal_fault_now == METAL_NO_LIBRARY) {
        *error = error_of("program_source:1:1: error:\nthe compiler was made to fail", 3);
        return nil;
    }
    for (size_t i = 0; i < metal_kernel_count; i++) {
        if (metal_kernels[i].source == hash) {
            FakeLibrary *const library = [[FakeLibrary alloc] init];
            library->_kernel = &metal_kernels[i];
            return library;
        }
    }
    *error = error_of("a kernel that is not in the list", 3);
    return nil;
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError **)error
{
    FakeFunction *const f = (FakeFunction *)function;
    if (metal_fault_now == METAL_NO_PIPELINE) {
        *error = error_of("a pipeline was made to fail", 2);
        return nil;
    }
    FakePipeline *const pipeline = [[FakePipeline alloc] init];
    pipeline->_kernel = f->_kernel;
    memcpy(pipeline->_constants, f->_constants, sizeof pipeline->_constants);
    return pipeline;
}

@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void)
{
    return metal_fault_now == METAL_NO_DEVICE ? nil : [[FakeDevice alloc] init];
}
