// SPDX-License-Identifier: BSD-2-Clause
// Shared by all shaders: bindings, parameters, and the steps after a kernel's computation. A tensor consists of vectors
// of four elements of one of its dimensions (the packed one), and an index counts vectors. Lanes after the last element
// are zero, and every kernel keeps them zero.
//
// A kernel contains the code of the steps once for each vector that it stores. Kernels that store many vectors
// therefore support fewer steps: with SOME_STEPS four, with PLAIN_STEPS four of the cheap ones. Only kernels with
// ALL_STEPS contain steps that need much code.
//
// Constants 0, 1 and 20 are the size of the workgroup. Constant 2 tells which operands exist, 3 to 10 are the steps,
// and 11 to 17 belong to the kernel. this_thread() returns the index of a thread among all threads. The threads of a
// workgroup that differ only in the third coordinate are a team: they have the same index and compute the same results.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 20) in;
layout(constant_id = 20) const uint TEAM = 1u;
#define TEAM_THREADS 128u // largest number of threads in a workgroup with teams
// 1: consecutive results of a thread are gl_WorkGroupSize.x apart; 0: they are neighbours
layout(constant_id = 21) const uint SPREAD_SET = 0u;
const bool SPREAD = SPREAD_SET != 0u;
layout(constant_id = 2) const uint OPERANDS = 0u; // bit 0: E exists; bit 1: F exists
layout(constant_id = 3) const uint STEP_0 = 0u;
layout(constant_id = 4) const uint STEP_1 = 0u;
layout(constant_id = 5) const uint STEP_2 = 0u;
layout(constant_id = 6) const uint STEP_3 = 0u;
layout(constant_id = 7) const uint STEP_4 = 0u;
layout(constant_id = 8) const uint STEP_5 = 0u;
layout(constant_id = 9) const uint STEP_6 = 0u;
layout(constant_id = 10) const uint STEP_7 = 0u;

layout(constant_id = 18) const uint HALF_SET = 0u; // vectors in memory are half precision; arithmetic is not
const bool HALF = HALF_SET != 0u;
const bool HALF_BY_HAND = HALF_SET == 2u; // for drivers that compute on the CPU, where packHalf2x16 is slow

layout(constant_id = 19) const uint AXIS = 0u; // axis along which a workgroup extends: axes 0 and AXIS are swapped
uvec3 this_thread()
{
    uvec3 thread = uvec3(gl_GlobalInvocationID.xy, gl_WorkGroupID.z);
    return AXIS == 1u ? thread.yxz : AXIS == 2u ? thread.zyx : thread;
}

#if defined(OUT_SCALARS) || defined(OUT_NUMBERS)
layout(std430, binding = 0) writeonly buffer Out { float out_data[]; };
#else
layout(std430, binding = 0) writeonly buffer Out { uvec4 out_data[]; };
uvec2 halves_of(vec4 v) // returns the numbers as halves, rounded to nearest, ties to even
{
    uvec4 bits = floatBitsToUint(v), a = bits & 0x7fffffffu;
    uvec4 h = (a - 0x38000000u + 0xfffu + ((a >> 13u) & 1u)) >> 13u;
    // Halves below 2^-14 are subnormal: they count in units of 2^-24.
    uvec4 small = floatBitsToUint(uintBitsToFloat(a) + 0.5) - 0x3f000000u;
    h = mix(h, small, lessThan(a, uvec4(0x38800000u)));
    h = mix(h, uvec4(0x7c00u), greaterThan(h, uvec4(0x7c00u)));
    h = mix(h, uvec4(0x7e00u), greaterThan(a, uvec4(0x7f800000u)));
    h |= (bits >> 16u) & 0x8000u;
    return h.xz | (h.yw << 16u);
}

void store(uint at, vec4 v)
{
    if (HALF) {
        uvec2 h = HALF_BY_HAND ? halves_of(v) : uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
        if ((at & 1u) == 0u) {
            out_data[at >> 1].xy = h;
        } else {
            out_data[at >> 1].zw = h;
        }
    } else {
        out_data[at] = floatBitsToUint(v);
    }
}
#endif
#ifdef IN_SCALARS
layout(std430, binding = 1) readonly buffer In1 { float in_1[]; };
#elif defined(TEXELS)
layout(binding = 1) uniform samplerBuffer in_1;
layout(binding = 2) uniform samplerBuffer in_2;
layout(binding = 3) uniform samplerBuffer in_3;
#define LOAD_1(i) texelFetch(in_1, int(i))
#define LOAD_2(i) texelFetch(in_2, int(i))
#define LOAD_3(i) texelFetch(in_3, int(i))
#else
layout(std430, binding = 1) readonly buffer In1 { uvec4 in_1[]; };
#ifdef IN_2_SCALARS
layout(std430, binding = 2) readonly buffer In2 { float in_2[]; };
#else
layout(std430, binding = 2) readonly buffer In2 { uvec4 in_2[]; };
#endif
layout(std430, binding = 3) readonly buffer In3 { uvec4 in_3[]; };
vec4 halves(uint at, uvec4 two)
{
    uvec2 h = (at & 1u) == 0u ? two.xy : two.zw;
    return vec4(unpackHalf2x16(h.x), unpackHalf2x16(h.y));
}
#define LOADER(number)                                                                                                 \
    vec4 load_##number(uint at)                                                                                        \
    {                                                                                                                  \
        if (HALF) {                                                                                                    \
            return halves(at, in_##number[at >> 1]);                                                                   \
        }                                                                                                              \
        return uintBitsToFloat(in_##number[at]);                                                                       \
    }
LOADER(1)
#ifndef IN_2_SCALARS
LOADER(2)
#endif
LOADER(3)
#define LOAD_1(i) load_1(i)
#define LOAD_2(i) load_2(i)
#define LOAD_3(i) load_3(i)
#endif

// The order of the words is that of taper_gpu_parameters (gpu_program.h).
layout(std140, binding = 4) uniform Parameters
{
    vec4 low[2], high[2];                                    // low and high of the steps
    uint out_offset, out_0, out_1, out_2, out_group;         // offset and strides of the result
    uint e_offset, e_0, e_1, e_2, e_group;                   // offset and strides of the steps' operands
    uint f_offset, f_0, f_1, f_2, f_group;
    uint size_0, size_1, size_2, groups, tail;               // sizes of the result; valid lanes in the last group
#ifdef KERNEL_PARAMETERS
    KERNEL_PARAMETERS
#endif
} p;

vec4 hold(vec4 v, vec4 low, vec4 high) // clamps v to [low, high]; preserves NaN
{
    v = mix(v, low, lessThan(v, low));
    return mix(v, high, greaterThan(v, high));
}

#ifndef PLAIN_STEPS
vec4 truth(bvec4 v)
{
    return mix(vec4(0.0), vec4(1.0), v);
}

// Returns erf with |error| < 6e-8 in floats: x P(x^2) near zero, otherwise 1 - t exp(-x^2 + Q(t)) with t = 1 / (1 + x /
// 2), from erfc in Numerical Recipes. Abramowitz and Stegun 7.1.26 has five terms, but an error of 1.5e-7.
vec4 erf4(vec4 x)
{
    vec4 a = abs(x), s = x * x, t = 1.0 / (1.0 + 0.5 * a);
    vec4 far = t * exp(-s - 1.26551223 +
                       t * (1.00002368 +
                            t * (0.37409196 +
                                 t * (0.09678418 +
                                      t * (-0.18628806 +
                                           t * (0.27886807 +
                                                t * (-1.13520398 +
                                                     t * (1.48851587 + t * (-0.82215223 + t * 0.17087277)))))))));
    vec4 near = x * (1.1283791671 +
                     s * (-0.3761263890 + s * (0.1128379165 + s * (-0.0268661706 + s * 0.0052239776))));
    vec4 y = mix(sign(x) * (1.0 - far), near, lessThan(a, vec4(0.5)));
    return mix(y, x, notEqual(x, x));
}

vec4 sigmoid4(vec4 v)
{
    return 1.0 / (1.0 + exp(-v));
}

vec4 tanh4(vec4 v)
{
    vec4 y = tanh(clamp(v, -15.0, 15.0));
    y = mix(y, v, lessThan(abs(v), vec4(1e-4)));
    return mix(y, v, notEqual(v, v));
}
#endif

#ifndef PLAIN_STEPS
// Returns the sine (quarter 0) or cosine (quarter 1), by polynomials of Cephes on [-pi / 4, pi / 4]. The functions of
// drivers may be off by 2^-11.
vec4 sine4(vec4 x, int quarter)
{
    vec4 k = floor(x * 0.636619772 + 0.5);
    vec4 r = ((x - k * 1.5703125) - k * 4.837512969970703125e-4) - k * 7.549789948768648e-8;
    vec4 s = r * r;
    vec4 odd = r + r * s * (-1.6666654611e-1 + s * (8.3321608736e-3 - s * 1.9515295891e-4));
    vec4 even = 1.0 - 0.5 * s + s * s * (4.166664568298827e-2 + s * (-1.388731625493765e-3 + s * 2.443315711809948e-5));
    ivec4 q = ivec4(k) + quarter;
    vec4 y = mix(odd, even, notEqual(q & 1, ivec4(0)));
    return mix(y, -y, notEqual(q & 2, ivec4(0)));
}
#endif

#ifndef PLAIN_STEPS
#define INFINITE uintBitsToFloat(0x7f800000u)
#define NOTHING uintBitsToFloat(0x7fc00000u)

// Completes a function r of v that GLSL defines only for positive v: the result is of_zero for 0, and NaN below 0.
vec4 above_zero(vec4 v, vec4 of_zero, vec4 r)
{
    r = mix(r, of_zero, equal(v, vec4(0.0)));
    return mix(r, vec4(NOTHING), lessThan(v, vec4(0.0)));
}
#endif

#ifdef ALL_STEPS

// Returns the exact remainder, like fmod in C: divides the mantissa of a, eight bits at a time, by the mantissa of b.
float rest(float a, float b)
{
    uint ua = floatBitsToUint(a) & 0x7fffffffu, ub = floatBitsToUint(b) & 0x7fffffffu;
    if (ua >= 0x7f800000u || ub > 0x7f800000u || ub == 0u) {
        return NOTHING;
    }
    if (ua < ub) {
        return a;
    }
    uint ea = max(ua >> 23, 1u), eb = max(ub >> 23, 1u);
    // Mantissas, including the leading one of a normal number.
    uint ma = ua - ((ea - 1u) << 23), mb = ub - ((eb - 1u) << 23);
    ma %= mb;
    for (uint left = ea - eb; left != 0u;) {
        uint bits = min(left, 8u);
        ma = (ma << bits) % mb;
        left -= bits;
    }
    uint magnitude = 0u;
    if (ma != 0u) {
        uint up = min(23u - uint(findMSB(ma)), eb - 1u);
        magnitude = (ma << up) + ((eb - 1u - up) << 23);
    }
    return uintBitsToFloat(magnitude | (floatBitsToUint(a) & 0x80000000u));
}

vec4 rest4(vec4 a, vec4 b)
{
    return vec4(rest(a.x, b.x), rest(a.y, b.y), rest(a.z, b.z), rest(a.w, b.w));
}

// Returns Python's remainder, which has the sign of the divisor.
vec4 remainder4(vec4 a, vec4 b)
{
    vec4 r = rest4(a, b);
    bvec4 other = notEqual(lessThan(r, vec4(0.0)), lessThan(b, vec4(0.0)));
    return mix(r, r + b, lessThan(vec4(0.5), truth(other) * truth(notEqual(r, vec4(0.0)))));
}

// Returns the floor of the quotient, by the remainder, because divisions of drivers may be off by several ulps.
vec4 floor_divide4(vec4 a, vec4 b)
{
    vec4 r = rest4(a, b);
    vec4 q = (a - r) / b;
    bvec4 other = notEqual(lessThan(r, vec4(0.0)), lessThan(b, vec4(0.0)));
    q -= truth(other) * truth(notEqual(r, vec4(0.0)));
    vec4 whole = floor(q);
    whole += truth(greaterThan(q - whole, vec4(0.5)));
    return mix(whole, a / b, equal(b, vec4(0.0)));
}

// Returns the base-2 logarithm of a positive number, accurate to one ulp also near 1, where drivers may be off by
// 2^-21.
float log2_of(float a)
{
    bool small = a < 1.1754944e-38;
    uint u = floatBitsToUint(small ? a * 16777216.0 : a);
    int e = int(u >> 23) - (small ? 151 : 127);
    float m = uintBitsToFloat((u & 0x7fffffu) | 0x3f800000u);
    if (m > 1.41421356) {
        m *= 0.5;
        e += 1;
    }
    float s = (m - 1.0) / (m + 1.0), z = s * s;
    return float(e) + 2.88539008 * s * (1.0 + z * (0.33333333 + z * (0.2 + z * (0.14285714 + z * 0.11111111))));
}

float power_of_two(int k) // for k from -126 to 127
{
    return uintBitsToFloat(uint(k + 127) << 23);
}

float power(float x, float y)
{
    if (x == 1.0 || y == 0.0) {
        return 1.0;
    }
    if (isnan(x) || isnan(y)) {
        return NOTHING;
    }
    float a = abs(x), r;
    bool whole = floor(y) == y, odd = whole && abs(y) < 16777216.0 && fract(y * 0.5) != 0.0;
    if (a == 0.0 || a == INFINITE) {
        r = (a == 0.0) == (y > 0.0) ? 0.0 : INFINITE;
    } else if (abs(y) == INFINITE) {
        r = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? INFINITE : 0.0;
    } else {
        float t = clamp(y * log2_of(a), -160.0, 160.0), k = floor(t);
        int half_k = int(k) / 2;
        r = exp2(t - k) * power_of_two(half_k) * power_of_two(int(k) - half_k);
        r = t >= 128.0 ? INFINITE : r;
        r = x < 0.0 && !whole ? NOTHING : r;
    }
    return odd && (floatBitsToUint(x) >> 31) != 0u ? -r : r;
}

vec4 power4(vec4 x, vec4 y)
{
    return vec4(power(x.x, y.x), power(x.y, y.y), power(x.z, y.z), power(x.w, y.w));
}
#endif

// Applies one step; the numbers are those of taper_gpu_step (gpu_steps.h).
vec4 step_with(uint code, vec4 v, vec4 low, vec4 high, vec4 e, vec4 f)
{
    uint from = (code >> 8) & 3u;
    vec4 s = from == 1u ? e : from == 2u ? f : low;
    if ((code & 0x400u) != 0u) {
        s = vec4(s.x);
    }
    switch (code & 255u) {
    case 1u: return hold(v, low, high);
    case 2u: return v + s * high;
    case 3u: return s - v * high;
    case 4u: return v * s;
    case 9u: return v * hold(v * (1.0 / 6.0) + 0.5, vec4(0.0), vec4(1.0));
    case 10u: return hold(v * (1.0 / 6.0) + 0.5, vec4(0.0), vec4(1.0));
    case 16u: return mix(v, v * low, lessThan(v, vec4(0.0)));
    case 30u: return mix(v, v * s, lessThan(v, vec4(0.0)));
    case 54u: return mix(high, hold(roundEven(v) + low, high, vec4(255.0)), lessThanEqual(v, vec4(9.2e18)));
#ifndef PLAIN_STEPS
    case 5u: return v / s;
    case 6u: return s / v;
    case 7u: return mix(mix(v, s, greaterThan(s, v)), s, notEqual(s, s));
    case 8u: return mix(mix(v, s, lessThan(s, v)), s, notEqual(s, s));
    case 11u: return sigmoid4(v);
    case 12u: return v * sigmoid4(v);
    case 13u: return tanh4(v);
    case 14u: return 0.5 * v * (1.0 + erf4(v * 0.70710678));
    case 15u: return 0.5 * v * (1.0 + tanh4(0.79788456 * (v + 0.044715 * v * v * v)));
    case 17u: return mix(v, low * (exp(v) - 1.0), lessThan(v, vec4(0.0)));
    case 18u: return exp(v);
    case 19u: return above_zero(v, vec4(-INFINITE), log(v));
    case 20u: return mix(sqrt(v), vec4(NOTHING), lessThan(v, vec4(0.0)));
    case 21u: return above_zero(v, 1.0 / v, inversesqrt(v));
    case 22u: return abs(v);
    case 23u: return -v;
    case 24u: return 1.0 / v;
    case 25u: return sine4(v, 0);
    case 26u: return sine4(v, 1);
    case 27u: return floor(v);
    case 28u: return ceil(v);
    case 29u: return erf4(v);
    case 31u: return mix(vec4(0.0), v, greaterThan(abs(v), low)) + mix(vec4(0.0), v, notEqual(v, v));
    case 32u: return mix(high, v, greaterThan(v, low));
    case 33u: return v * v;
    case 34u: return v * tanh4(mix(log(1.0 + exp(min(v, 20.0))), v, greaterThan(v, vec4(20.0))));
    case 35u: return mix(log(1.0 + exp(min(v * low, vec4(80.0)))) / low, v, greaterThan(v * low, high));
    case 36u: return truth(equal(v, s));
    case 37u: return truth(notEqual(v, s));
    case 38u: return truth(lessThan(v, s));
    case 39u: return truth(lessThanEqual(v, s));
    case 40u: return truth(greaterThan(v, s));
    case 41u: return truth(greaterThanEqual(v, s));
    case 42u: return truth(notEqual(v, vec4(0.0))) * truth(notEqual(s, vec4(0.0)));
    case 43u: return max(truth(notEqual(v, vec4(0.0))), truth(notEqual(s, vec4(0.0))));
    case 44u: return abs(truth(notEqual(v, vec4(0.0))) - truth(notEqual(s, vec4(0.0))));
    case 45u: return truth(equal(v, vec4(0.0)));
    case 46u: return truth(notEqual(v, v));
    case 47u: return mix(v, high, notEqual(s, vec4(0.0)));
    case 48u: return mix(high, v, notEqual(s, vec4(0.0)));
    case 49u: return mix(high, low, notEqual(v, vec4(0.0)));
    case 50u: return mix((code & 0x800u) != 0u ? vec4(f.x) : f, (code & 0x400u) != 0u ? vec4(e.x) : e, notEqual(v, vec4(0.0)));
    case 51u: return truth(greaterThan(v, vec4(0.0))) - truth(lessThan(v, vec4(0.0)));
    case 52u: return trunc(v);
    case 53u: return roundEven(v);
#endif
#ifdef ALL_STEPS
    case 55u: return power4(v, s);
    case 56u: return power4(s, v);
    case 57u: return remainder4(v, s);
    case 58u: return rest4(v, s);
    case 59u: return floor_divide4(v, s);
    case 60u: return above_zero(v, vec4(-INFINITE), log2(v));
    case 61u: return mix(above_zero(1.0 + v, vec4(-INFINITE), log(1.0 + v)), v - 0.5 * v * v, lessThan(abs(v), vec4(1e-3)));
    case 62u: return mix(exp(v) - 1.0, v + 0.5 * v * v, lessThan(abs(v), vec4(1e-3)));
#endif
    default: return v;
    }
}

#define STEP(number, where, at)                                                                                        \
    if ((STEP_##number & 255u) != 0u) {                                                                                \
        v = step_with(STEP_##number, v, vec4(p.low[where][at]), vec4(p.high[where][at]), e, f);                        \
    }

#ifndef OPERAND_F
#define OPERAND_F(i) LOAD_3(i)
#endif
#ifndef OUT_SCALARS
uint out_shift = 0u; // number of vectors that finish() adds to the index of the vector that it stores

// Applies the steps and stores the vector. In kernels with weights, E is in binding 3; other kernels also have F.
void finish(vec4 v, uint n, uint y, uint x, uint group)
{
    vec4 e = vec4(0.0), f = vec4(0.0);
    if ((OPERANDS & 1u) != 0u) {
        uint e_at = p.e_offset + n * p.e_0 + y * p.e_1 + x * p.e_2 + group * p.e_group;
        e = OPERAND_E(e_at);
    }
    if ((OPERANDS & 2u) != 0u) {
        f = OPERAND_F(p.f_offset + n * p.f_0 + y * p.f_1 + x * p.f_2 + group * p.f_group);
    }
    STEP(0, 0, 0)
    STEP(1, 0, 1)
    STEP(2, 0, 2)
    STEP(3, 0, 3)
#if !defined(PLAIN_STEPS) && !defined(SOME_STEPS)
    STEP(4, 1, 0)
    STEP(5, 1, 1)
    STEP(6, 1, 2)
    STEP(7, 1, 3)
#endif
    if (group + 1u == p.groups) {
        v = mix(vec4(0.0), v, lessThan(uvec4(0u, 1u, 2u, 3u), uvec4(p.tail)));
    }
    uint at = out_shift + p.out_offset + n * p.out_0 + y * p.out_1 + x * p.out_2;
#ifdef OUT_NUMBERS // strides count elements; out_group is the stride of a channel
    uint lanes = group + 1u == p.groups ? p.tail : 4u;
    for (uint lane = 0u; lane < lanes; lane++) {
        out_data[at + (group * 4u + lane) * p.out_group] = v[lane];
    }
#else
    store(at + group * p.out_group, v);
#endif
}
#endif
