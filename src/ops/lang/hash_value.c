// SPDX-License-Identifier: BSD-2-Clause
// hash(value) returns the numbers that PyTorch returns on 64-bit Linux, on every target, because models seed generators
// with hash(str(x)). PyTorch calls std::hash of libstdc++ (libsupc++/hash_bytes.cc: MurmurHash64A by Austin Appleby)
// and joins the items of a tuple with c10::hash_combine (c10/util/hash.h).
#include "ir/value.h"
#include "ops/call/call.h"
#include "ops/list/shared_kernels.h"

static inline uint64_t mix(uint64_t h)
{
    return h ^ h >> 47;
}

// Reads up to 8 bytes as a little-endian number.
static inline uint64_t read_word(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        word |= (uint64_t)bytes[i] << 8 * i;
    }
    return word;
}

// Returns std::_Hash_bytes(bytes, size, 0xc70f6907).
static uint64_t hash_bytes(taper_run *run, const void *bytes, size_t size)
{
    enum { AT_ONCE = 1 << 16 };
    const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
    const unsigned char *at = bytes;
    uint64_t h = UINT64_C(0xc70f6907) ^ (uint64_t)size * factor;
    size_t left = size;
    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        if (left % AT_ONCE < sizeof(uint64_t) && !taper_run_goes_on(run, AT_ONCE / 4)) {
            return 0;
        }
        h = (h ^ mix(read_word(at, sizeof(uint64_t)) * factor) * factor) * factor;
    }
    if (left != 0) {
        h = (h ^ read_word(at, left)) * factor;
    }
    return mix(mix(h) * factor);
}

static taper_status hash_value(taper_run *run, taper_val value, int depth, uint64_t *steps, uint64_t *hash)
{
    uint64_t h = 0;
    switch (value.tag) {
    case TAPER_NONE:
        break;
    case TAPER_BOOLEAN:
    case TAPER_INT:
        h = (uint64_t)value.as.i;
        break;
    // PyTorch hashes the kind, then the index as a byte, which is -1 if there is no index (c10/core/Device.h).
    case TAPER_DEVICE:
        h = (uint64_t)value.as.i >> 8 << 16 | (((uint64_t)value.as.i & 0xff) + 0xff) % 0x100;
        break;
    case TAPER_DOUBLE: {
        uint64_t bits;
        unsigned char bytes[sizeof bits];
        memcpy(&bits, &value.as.f, sizeof bits);
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (unsigned char)(bits >> 8 * i);
        }
        h = value.as.f == 0 ? 0 : hash_bytes(run, bytes, sizeof bytes);
        break;
    }
    case TAPER_STRING:
        h = hash_bytes(run, value.as.string->data, value.as.string->length);
        break;
    case TAPER_TENSOR:
        h = (uint64_t)(uintptr_t)value.as.obj;
        break;
    case TAPER_TUPLE:
        if (depth == TAPER_LIMIT_VALUE_DEPTH || (*steps += value.as.tuple->count) > TAPER_LIMIT_CONTAINER_ITEMS) {
            return taper_fail(run->error, TAPER_ERROR_RESOURCE, "a value is nested too deep to be hashed");
        }
        for (size_t i = 0; i < value.as.tuple->count; i++) {
            uint64_t part = 0;
            TAPER_TRY(hash_value(run, value.as.tuple->items[i], depth + 1, steps, &part));
            h ^= part + UINT64_C(0x9e3779b9) + (h << 6) + (h >> 2);
        }
        break;
    default:
        return taper_fail(run->error, TAPER_ERROR_RAISED, "Can't hash a value of kind %s", taper_val_kind_name(value));
    }
    *hash = h;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_hash)
{
    uint64_t steps = 0, hash = 0;
    if (call->arg_count == 0) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "argument 0 is missing");
    }
    TAPER_TRY(hash_value(call->run, call->args[0], 0, &steps, &hash));
    taper_ret(call, 0, taper_val_int((int64_t)hash));
    return TAPER_OK;
}
