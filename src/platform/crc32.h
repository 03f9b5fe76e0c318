// SPDX-License-Identifier: BSD-2-Clause
// The checksum of zip archives. The writers take it of every byte of a model's weights; zlib's own takes several times
// as long on x86.
#ifndef TAPER_PLATFORM_CRC32_H
#define TAPER_PLATFORM_CRC32_H

#include <stddef.h>
#include <stdint.h>

// Of the bytes before, with size more behind them. Starts with 0.
uint32_t taper_crc32(uint32_t crc, const void *data, size_t size);
// The same by zlib alone, as its crc32_z does it, which the zlib of older Androids does not have.
uint32_t taper_crc32_plain(uint32_t crc, const void *data, size_t size);

#endif
