// SPDX-License-Identifier: BSD-2-Clause
// Implements the pixel buffers of include/CoreVideo/CoreVideo.h.
#include <CoreVideo/CoreVideo.h>
#include <stdlib.h>
#include <string.h>

struct CVPixelBuffer {
    long references, locks;
    OSType format;
    size_t width, height, row;
    bool planar, refuses;
    unsigned char *planes[2];
};

static long count;

CVPixelBufferRef CVPixelBufferMake(OSType format, size_t width, size_t height, size_t row, bool planar)
{
    CVPixelBufferRef buffer = calloc(1, sizeof *buffer);
    *buffer = (struct CVPixelBuffer){
        .references = 1, .format = format, .width = width, .height = height, .row = row, .planar = planar};
    for (int i = 0; i < 2; i++) {
        buffer->planes[i] = malloc(row * height + 1);
        for (size_t k = 0; k < row * height; k++) {
            buffer->planes[i][k] = (unsigned char)(k * 7 + (size_t)i);
        }
    }
    (void)__sync_add_and_fetch(&count, 1);
    return buffer;
}

long CVPixelBufferCount(void)
{
    return __sync_add_and_fetch(&count, 0);
}

long CVPixelBufferLocks(CVPixelBufferRef buffer)
{
    return buffer->locks;
}

void CVPixelBufferRefuseLock(CVPixelBufferRef buffer)
{
    buffer->refuses = true;
}

CVPixelBufferRef CVPixelBufferRetain(CVPixelBufferRef buffer)
{
    (void)__sync_add_and_fetch(&buffer->references, 1);
    return buffer;
}

void CVPixelBufferRelease(CVPixelBufferRef buffer)
{
    if (__sync_sub_and_fetch(&buffer->references, 1) == 0) {
        if (buffer->locks != 0) {
            abort();
        }
        free(buffer->planes[0]);
        free(buffer->planes[1]);
        free(buffer);
        (void)__sync_sub_and_fetch(&count, 1);
    }
}

CVReturn CVPixelBufferLockBaseAddress(CVPixelBufferRef buffer, CVOptionFlags flags)
{
    (void)flags;
    if (buffer->refuses) {
        return -6660;
    }
    (void)__sync_add_and_fetch(&buffer->locks, 1);
    return kCVReturnSuccess;
}

CVReturn CVPixelBufferUnlockBaseAddress(CVPixelBufferRef buffer, CVOptionFlags flags)
{
    (void)flags;
    (void)__sync_sub_and_fetch(&buffer->locks, 1);
    return kCVReturnSuccess;
}

OSType CVPixelBufferGetPixelFormatType(CVPixelBufferRef buffer)
{
    return buffer->format;
}

unsigned char CVPixelBufferIsPlanar(CVPixelBufferRef buffer)
{
    return buffer->planar;
}

size_t CVPixelBufferGetPlaneCount(CVPixelBufferRef buffer)
{
    return buffer->planar ? 2 : 0;
}

size_t CVPixelBufferGetWidth(CVPixelBufferRef buffer)
{
    return buffer->width;
}

size_t CVPixelBufferGetHeight(CVPixelBufferRef buffer)
{
    return buffer->height;
}

size_t CVPixelBufferGetBytesPerRow(CVPixelBufferRef buffer)
{
    return buffer->row;
}

void *CVPixelBufferGetBaseAddress(CVPixelBufferRef buffer)
{
    return buffer->locks > 0 ? buffer->planes[0] : NULL;
}

size_t CVPixelBufferGetWidthOfPlane(CVPixelBufferRef buffer, size_t plane)
{
    return buffer->width >> plane;
}

size_t CVPixelBufferGetHeightOfPlane(CVPixelBufferRef buffer, size_t plane)
{
    return buffer->height >> plane;
}

size_t CVPixelBufferGetBytesPerRowOfPlane(CVPixelBufferRef buffer, size_t plane)
{
    (void)plane;
    return buffer->row;
}

void *CVPixelBufferGetBaseAddressOfPlane(CVPixelBufferRef buffer, size_t plane)
{
    return buffer->locks > 0 ? buffer->planes[plane] : NULL;
}
