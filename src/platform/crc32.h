// SPDX-License-Identifier: BSD-2-Clause
// Computes the checksum of zip archives. The writers need the checksum for every byte of a model's weights, and zlib's
// own function takes several times as long on x86 as taper_crc32.
#ifndef TAPER_PLATFORM_CRC32_H
#define TAPER_PLATFORM_CRC32_H

#include <stddef.h>
#include <stdint.h>

// Returns the checksum of the previous bytes followed by these `size` bytes. crc: checksum of the previous bytes, or 0
// if there are none.
uint32_t taper_crc32(uint32_t crc, const void *data, size_t size);
// Returns the checksum that taper_crc32 returns, computed by zlib, for any size. zlib's crc32_z does the same, but the
// zlib of older Androids lacks that function. Builds without zlib use a table.
uint32_t taper_crc32_plain(uint32_t crc, const void *data, size_t size);

#endif
