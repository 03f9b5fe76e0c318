// SPDX-License-Identifier: BSD-2-Clause
// The checksum of zip archives. The writers compute it for every byte of a model's weights; zlib's own function takes
// several times as long on x86.
#ifndef TAPER_PLATFORM_CRC32_H
#define TAPER_PLATFORM_CRC32_H

#include <stddef.h>
#include <stdint.h>

// Returns the checksum of the previous bytes and the `size` bytes after them. crc: the checksum of the previous bytes,
// 0 for none.
uint32_t taper_crc32(uint32_t crc, const void *data, size_t size);
// Returns the same checksum by zlib alone, for any size. zlib's crc32_z does that too, but the zlib of older Androids
// lacks it. Builds without zlib use a table.
uint32_t taper_crc32_plain(uint32_t crc, const void *data, size_t size);

#endif
