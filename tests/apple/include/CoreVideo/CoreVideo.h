// SPDX-License-Identifier: BSD-2-Clause
// Replaces Apple's header for pixel buffers; pixel_buffer.c implements it. Formats have the same numbers as in Apple's
// header.
#ifndef TAPER_TEST_CORE_VIDEO_H
#define TAPER_TEST_CORE_VIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t OSType;
typedef int32_t CVReturn;
typedef uint64_t CVOptionFlags;
typedef struct CVPixelBuffer *CVPixelBufferRef;
enum { kCVReturnSuccess = 0 };
enum { kCVPixelBufferLock_ReadOnly = 1 };
enum {
    kCVPixelFormatType_24RGB = 0x18,
    kCVPixelFormatType_32ARGB = 0x20,
    kCVPixelFormatType_24BGR = '24BG',
    kCVPixelFormatType_32BGRA = 'BGRA',
    kCVPixelFormatType_32RGBA = 'RGBA',
    kCVPixelFormatType_32ABGR = 'ABGR',
    kCVPixelFormatType_OneComponent8 = 'L008',
    kCVPixelFormatType_OneComponent16Half = 'L00h',
    kCVPixelFormatType_OneComponent32Float = 'L00f',
    kCVPixelFormatType_DepthFloat16 = 'hdep',
    kCVPixelFormatType_DepthFloat32 = 'fdep',
    kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange = '420v',
    kCVPixelFormatType_420YpCbCr8BiPlanarFullRange = '420f',
    kCVPixelFormatType_422YpCbCr8 = '2vuy',
};

// The following functions exist only in tests. CVPixelBufferMake makes a buffer with rows of `row` bytes. planar: true
// to add a second plane with two channels and half the width and height.
CVPixelBufferRef CVPixelBufferMake(OSType format, size_t width, size_t height, size_t row, bool planar);
long CVPixelBufferCount(void); // returns the number of existing buffers
long CVPixelBufferLocks(CVPixelBufferRef buffer);
void CVPixelBufferRefuseLock(CVPixelBufferRef buffer);

CVPixelBufferRef CVPixelBufferRetain(CVPixelBufferRef buffer);
void CVPixelBufferRelease(CVPixelBufferRef buffer);
CVReturn CVPixelBufferLockBaseAddress(CVPixelBufferRef buffer, CVOptionFlags flags);
CVReturn CVPixelBufferUnlockBaseAddress(CVPixelBufferRef buffer, CVOptionFlags flags);
OSType CVPixelBufferGetPixelFormatType(CVPixelBufferRef buffer);
unsigned char CVPixelBufferIsPlanar(CVPixelBufferRef buffer);
size_t CVPixelBufferGetPlaneCount(CVPixelBufferRef buffer);
size_t CVPixelBufferGetWidth(CVPixelBufferRef buffer);
size_t CVPixelBufferGetHeight(CVPixelBufferRef buffer);
size_t CVPixelBufferGetBytesPerRow(CVPixelBufferRef buffer);
void *CVPixelBufferGetBaseAddress(CVPixelBufferRef buffer);
size_t CVPixelBufferGetWidthOfPlane(CVPixelBufferRef buffer, size_t plane);
size_t CVPixelBufferGetHeightOfPlane(CVPixelBufferRef buffer, size_t plane);
size_t CVPixelBufferGetBytesPerRowOfPlane(CVPixelBufferRef buffer, size_t plane);
void *CVPixelBufferGetBaseAddressOfPlane(CVPixelBufferRef buffer, size_t plane);

#ifdef __cplusplus
}
#endif
#endif
