// SPDX-License-Identifier: BSD-2-Clause
// Tensors over an NSData, a pixel buffer or a value of the library, and their elements as NSData.
#import "TPRShared.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// ---- NSData over the memory of values, values over the memory of objects

// Bytes inside a value, which this object retains.
@interface TPRBytes : NSData {
    taper_value *_value;
    const void *_start;
    NSUInteger _count;
}
@end

@implementation TPRBytes

- (instancetype)initWithValue:(taper_value *)value start:(const void *)start count:(NSUInteger)count
{
    self = [super init];
    if (self != nil) {
        _value = taper_value_retain(value);
        _start = start;
        _count = count;
    }
    return self;
}

- (void)dealloc
{
    taper_value_release(_value);
    TPR_DEALLOC_SUPER;
}

- (NSUInteger)length
{
    return _count;
}

- (const void *)bytes
{
    return _start;
}

- (id)copyWithZone:(NSZone *)zone
{
    (void)zone;
    return TPR_RETAIN(self);
}

@end

static void release_pixels(void *buffer)
{
    (void)CVPixelBufferUnlockBaseAddress(buffer, kCVPixelBufferLock_ReadOnly);
    CVPixelBufferRelease(buffer);
}

// Copies the elements of a tensor from `at` to `to` in C order and returns the end of the copy.
static char *copy_elements(const taper_tensor_info *info, size_t dimension, const char *at, size_t size, char *to)
{
    if (dimension == info->rank) {
        memcpy(to, at, size);
        return to + size;
    }
    for (int64_t i = 0; i < info->sizes[dimension]; i++) {
        to = copy_elements(info, dimension + 1, at + i * info->strides[dimension] * (int64_t)size, size, to);
    }
    return to;
}

// ---- TPRTensor

@implementation TPRTensor {
    taper_value *_value;
    taper_tensor_info _info;
}

- (nullable instancetype)initWithValue:(taper_value *)value
{
    self = [super init];
    if (self != nil) {
        _info.struct_size = sizeof _info;
        if (value == NULL || taper_value_get_tensor(value, &_info, NULL) != TAPER_OK) {
            return TPR_FAILED(self);
        }
        _value = taper_value_retain(value);
    }
    return self;
}

- (nullable instancetype)initOver:(const void *)bytes
                            count:(size_t)count
                            dtype:(taper_dtype)dtype
                             rank:(size_t)rank
                            sizes:(const int64_t *)sizes
                          strides:(const int64_t *)strides
                          release:(void (*)(void *))release
                             user:(void *)user
                            error:(NSError **)error
{
    taper_error *said = taper_error_create();
    taper_value *value = NULL;
    taper_context *const shared = tpr_context();
    taper_status status = TAPER_ERROR_RESOURCE;
    if (shared != NULL) {
        // The cast is safe, because the value is read-only.
        status = taper_value_tensor_from(shared, dtype, rank, sizes, strides, (void *)(uintptr_t)bytes, count, 1,
                                         release, user, &value, said);
    }
    if (status != TAPER_OK) {
        release(user);
        (void)tpr_fail_as(error, said, status);
        return TPR_FAILED(self);
    }
    taper_error_destroy(said);
    self = [self initWithValue:value];
    taper_value_release(value);
    return self;
}

- (nullable instancetype)initWithData:(NSData *)data
                                shape:(NSArray<NSNumber *> *)shape
                                dtype:(TPRDType)dtype
                                error:(NSError **)error
{
    const size_t size = dtype >= 0 && dtype <= INT_MAX ? taper_dtype_size((taper_dtype)dtype) : 0;
    const NSUInteger rank = [shape count];
    int64_t sizes[TAPER_MAX_RANK];
    size_t bytes = size;
    if (data == nil || shape == nil) {
        (void)tpr_wrong(error, @"the data or the shape is nil");
        return TPR_FAILED(self);
    }
    if (size == 0 || (dtype >= TPRDTypeQInt8 && dtype <= TPRDTypeQInt32)) {
        (void)tpr_wrong(error, [NSString stringWithFormat:@"%ld is no dtype that data can have", (long)dtype]);
        return TPR_FAILED(self);
    }
    if (rank > TAPER_MAX_RANK) {
        (void)tpr_wrong(error, [NSString stringWithFormat:@"the shape has %lu dimensions; at most %d are possible",
                                                          (unsigned long)rank, TAPER_MAX_RANK]);
        return TPR_FAILED(self);
    }
    bool empty = false, fits = true;
    for (NSUInteger i = 0; i < rank; i++) {
        NSNumber *const number = [shape objectAtIndex:i];
        sizes[i] = [number isKindOfClass:[NSNumber class]] ? [number longLongValue] : -1;
        if (sizes[i] < 0) {
            (void)tpr_wrong(error, [NSString stringWithFormat:@"dimension %lu of the shape is no number of elements",
                                                              (unsigned long)i]);
            return TPR_FAILED(self);
        }
        empty = empty || sizes[i] == 0;
        fits = fits && !__builtin_mul_overflow(bytes, (size_t)(sizes[i] != 0 ? sizes[i] : 1), &bytes) &&
               (uint64_t)sizes[i] <= SIZE_MAX;
    }
    if (!fits || (empty ? 0 : bytes) != [data length]) {
        (void)tpr_wrong(
            error,
            [NSString stringWithFormat:@"the data has %lu bytes, which is not what the elements of the shape have",
                                       (unsigned long)[data length]]);
        return TPR_FAILED(self);
    }
    static const char nothing[16];
    const void *const start = [data bytes] != NULL ? [data bytes] : nothing;
    return [self initOver:start
                    count:[data length]
                    dtype:(taper_dtype)dtype
                     rank:rank
                    sizes:sizes
                  strides:NULL
                  release:tpr_release_object
                     user:TPR_RETAINED(data)
                    error:error];
}

// Returns the dtype and number of channels of a pixel format, or false for a format that a tensor cannot view.
static bool read_format(OSType format, bool planar, NSUInteger plane, taper_dtype *dtype, int64_t *channels)
{
    *dtype = TAPER_U8;
    *channels = 1;
    switch (format) {
    case kCVPixelFormatType_32BGRA:
    case kCVPixelFormatType_32RGBA:
    case kCVPixelFormatType_32ARGB:
    case kCVPixelFormatType_32ABGR:
        *channels = 4;
        return !planar;
    case kCVPixelFormatType_24RGB:
    case kCVPixelFormatType_24BGR:
        *channels = 3;
        return !planar;
    case kCVPixelFormatType_OneComponent8:
        return !planar;
    case kCVPixelFormatType_OneComponent16Half:
    case kCVPixelFormatType_DepthFloat16:
        *dtype = TAPER_F16;
        return !planar;
    case kCVPixelFormatType_OneComponent32Float:
    case kCVPixelFormatType_DepthFloat32:
        *dtype = TAPER_F32;
        return !planar;
    case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange:
    case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
        *channels = plane == 0 ? 1 : 2;
        return planar;
    default:
        return false;
    }
}

- (nullable instancetype)initWithPixelBuffer:(CVPixelBufferRef)buffer error:(NSError **)error
{
    return [self initWithPixelBuffer:buffer plane:0 error:error];
}

- (nullable instancetype)initWithPixelBuffer:(CVPixelBufferRef)buffer plane:(NSUInteger)plane error:(NSError **)error
{
    if (buffer == NULL) {
        (void)tpr_wrong(error, @"the pixel buffer is NULL");
        return TPR_FAILED(self);
    }
    const bool planar = CVPixelBufferIsPlanar(buffer);
    if (plane >= (planar ? CVPixelBufferGetPlaneCount(buffer) : 1)) {
        (void)tpr_wrong(error, [NSString stringWithFormat:@"the pixel buffer has no plane %lu", (unsigned long)plane]);
        return TPR_FAILED(self);
    }
    taper_dtype dtype;
    int64_t channels;
    if (!read_format(CVPixelBufferGetPixelFormatType(buffer), planar, plane, &dtype, &channels)) {
        (void)tpr_fail(
            error, TPRErrorUnsupported,
            [NSString
                stringWithFormat:@"a tensor cannot lie over pixels of format %lu; 32BGRA is one over which it can",
                                 (unsigned long)CVPixelBufferGetPixelFormatType(buffer)],
            nil);
        return TPR_FAILED(self);
    }
    if (CVPixelBufferLockBaseAddress(buffer, kCVPixelBufferLock_ReadOnly) != kCVReturnSuccess) {
        (void)tpr_fail(error, TPRErrorResource, @"the pixel buffer cannot be locked", nil);
        return TPR_FAILED(self);
    }
    (void)CVPixelBufferRetain(buffer);
    const size_t width = planar ? CVPixelBufferGetWidthOfPlane(buffer, plane) : CVPixelBufferGetWidth(buffer);
    const size_t height = planar ? CVPixelBufferGetHeightOfPlane(buffer, plane) : CVPixelBufferGetHeight(buffer);
    const size_t row = planar ? CVPixelBufferGetBytesPerRowOfPlane(buffer, plane) : CVPixelBufferGetBytesPerRow(buffer);
    const void *const start =
        planar ? CVPixelBufferGetBaseAddressOfPlane(buffer, plane) : CVPixelBufferGetBaseAddress(buffer);
    const size_t size = taper_dtype_size(dtype), used = width * (size_t)channels * size;
    if (start == NULL || width == 0 || height == 0 || row < used || row % size != 0) {
        release_pixels(buffer);
        (void)tpr_fail(error, TPRErrorUnsupported, @"the pixel buffer has no rows of pixels in memory", nil);
        return TPR_FAILED(self);
    }
    const int64_t sizes[] = {(int64_t)height, (int64_t)width, channels};
    const int64_t strides[] = {(int64_t)(row / size), channels, 1};
    return [self initOver:start
                    count:(height - 1) * row + used
                    dtype:dtype
                     rank:channels == 1 ? 2 : 3
                    sizes:sizes
                  strides:strides
                  release:release_pixels
                     user:buffer
                    error:error];
}

- (void)dealloc
{
    taper_value_release(_value);
    TPR_DEALLOC_SUPER;
}

- (taper_value *)value
{
    return _value;
}

- (TPRDType)dtype
{
    return (TPRDType)_info.dtype;
}

- (double)scale
{
    return _info.quantized == 1 ? _info.scale : 0;
}

- (int64_t)zeroPoint
{
    return _info.quantized == 1 ? _info.zero_point : 0;
}

- (NSArray<NSNumber *> *)shape
{
    NSMutableArray *const shape = [NSMutableArray arrayWithCapacity:_info.rank];
    for (size_t i = 0; i < _info.rank; i++) {
        [shape addObject:[NSNumber numberWithLongLong:_info.sizes[i]]];
    }
    return shape;
}

- (nullable NSData *)data
{
    const size_t size = taper_dtype_size(_info.dtype);
    if (size == 0) {
        return nil;
    }
    size_t count = 1;
    bool in_order = true;
    for (size_t i = _info.rank; i-- > 0;) {
        in_order = in_order && (_info.sizes[i] == 1 || _info.strides[i] == (int64_t)count);
        // An expanded tensor may have more elements than memory has bytes.
        if (__builtin_mul_overflow(count, (size_t)_info.sizes[i], &count)) {
            return nil;
        }
    }
    size_t bytes;
    if (count == 0) {
        return [NSData data];
    }
    if (in_order) {
        return TPR_AUTORELEASE([[TPRBytes alloc] initWithValue:_value start:_info.data count:count * size]);
    }
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > NSIntegerMax) {
        return nil;
    }
    void *const copy = malloc(bytes);
    if (copy == NULL) {
        return nil;
    }
    (void)copy_elements(&_info, 0, _info.data, size, copy);
    return [NSData dataWithBytesNoCopy:copy length:bytes freeWhenDone:YES];
}

@end
