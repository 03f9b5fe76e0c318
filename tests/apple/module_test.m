// SPDX-License-Identifier: BSD-2-Clause
// module_test MODELS: tests TPRModule and TPRTensor with kinds.ptl and slow.ptl of the folder MODELS: conversion of
// inputs and results, ownership of memory, wrong arguments, damaged files, threads.
#import "TPRModule.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;
static int passed, failed;

#define CHECK(condition) check((condition), #condition, __LINE__)
static void check(bool is_so, const char *what, int line)
{
    if (is_so) {
        passed++;
    } else {
        failed++;
        printf("FAILED  line %d: %s\n", line, what);
    }
}

// Checks that the object is nil, the error has this code, and its text contains these words.
#define FAILS(object, error, code_, words) check((object) == nil && says(error, code_, words), #object, __LINE__)
static bool says(NSError *error, NSInteger code, const char *words)
{
    if (error == nil || [error code] != code || ![[error domain] isEqualToString:TPRErrorDomain] ||
        strstr([[error localizedDescription] UTF8String], words) == NULL) {
        printf("  says: %ld %s\n", error != nil ? [error code] : 0,
               error != nil ? [[error localizedDescription] UTF8String] : "nothing");
        return false;
    }
    return true;
}

static NSString *path_of(const char *name)
{
    return [NSString stringWithFormat:@"%s/%s", folder, name];
}

static NSData *file(const char *name)
{
    FILE *const opened = fopen([path_of(name) UTF8String], "rb");
    char *const bytes = malloc(1 << 20);
    const size_t size = fread(bytes, 1, 1 << 20, opened);
    fclose(opened);
    return [NSData dataWithBytesNoCopy:bytes length:size freeWhenDone:YES];
}

static TPRModule *load(const char *name)
{
    NSError *error = nil;
    TPRModule *const module = [[[TPRModule alloc] initWithContentsOfFile:path_of(name) error:&error] autorelease];
    if (module == nil) {
        printf("%s\n", [[error localizedDescription] UTF8String]);
        exit(1);
    }
    return module;
}

static NSArray *shape(long long a, long long b)
{
    return [NSArray arrayWithObjects:[NSNumber numberWithLongLong:a], [NSNumber numberWithLongLong:b], nil];
}

static const float SIX[] = {-1, 0, 1, 2, 3, 4};

static TPRTensor *six(void)
{
    return [[[TPRTensor alloc] initWithData:[NSData dataWithBytes:SIX length:sizeof SIX]
                                      shape:shape(2, 3)
                                      dtype:TPRDTypeFloat32
                                      error:NULL] autorelease];
}

static id run(TPRModule *module, NSString *method, NSArray *inputs)
{
    NSError *error = nil;
    const id result = [module runMethod:method inputs:inputs error:&error];
    if (result == nil) {
        printf("%s: %s\n", [method UTF8String], [[error localizedDescription] UTF8String]);
    }
    return result;
}

static NSArray *one(id object)
{
    return [NSArray arrayWithObjects:object, nil];
}

static bool is_tensor(id object, TPRDType dtype, long long a, long long b, const void *bytes, size_t size)
{
    TPRTensor *const tensor = object;
    return [tensor isKindOfClass:[TPRTensor class]] && [tensor dtype] == dtype && [[tensor shape] count] == 2 &&
           [[[tensor shape] objectAtIndex:0] longLongValue] == a &&
           [[[tensor shape] objectAtIndex:1] longLongValue] == b && [[tensor data] length] == size &&
           (size == 0 || memcmp([[tensor data] bytes], bytes, size) == 0);
}

static void test_tensors(void)
{
    TPRModule *const module = load("kinds.ptl");
    const float doubled[] = {-2, 0, 2, 4, 6, 8}, turned[] = {-1, 2, 0, 3, 1, 4};
    CHECK(is_tensor([module forward:one(six()) error:NULL], TPRDTypeFloat32, 2, 3, doubled, sizeof doubled));
    CHECK(is_tensor(run(module, @"transpose", one(six())), TPRDTypeFloat32, 3, 2, turned, sizeof turned));
    const char positive[] = {0, 0, 1, 1, 1, 1};
    CHECK(is_tensor(run(module, @"compare", one(six())), TPRDTypeBool, 2, 3, positive, sizeof positive));
    // If a model returns its input, the result uses the caller's bytes.
    NSData *const data = [NSData dataWithBytes:SIX length:sizeof SIX];
    TPRTensor *const over = [[TPRTensor alloc] initWithData:data shape:shape(2, 3) dtype:TPRDTypeFloat32 error:NULL];
    CHECK([[over data] bytes] == [data bytes]);
    TPRTensor *const same = run(module, @"same", one(over));
    CHECK([[same data] bytes] == [data bytes]);
    // A model that writes in place does not write to the caller's bytes.
    const float more[] = {0, 1, 2, 3, 4, 5};
    CHECK(is_tensor(run(module, @"add_one_", one(over)), TPRDTypeFloat32, 2, 3, more, sizeof more));
    CHECK(memcmp([data bytes], SIX, sizeof SIX) == 0);
    [over release];
    // Results are read without copying, and outlive the tensor and the module.
    NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
    NSData *kept = nil;
    {
        TPRModule *const other = [[TPRModule alloc] initWithContentsOfFile:path_of("kinds.ptl") error:NULL];
        TPRTensor *const result = [other forward:one(six()) error:NULL];
        CHECK([[result data] bytes] == [[result data] bytes]);
        kept = [[result data] copy];
        CHECK([kept bytes] == [[result data] bytes]);
        [other release];
    }
    [pool drain];
    CHECK([kept length] == sizeof doubled && memcmp([kept bytes], doubled, sizeof doubled) == 0);
    [kept release];
    // Tests a quantized result.
    TPRTensor *const quantized = run(module, @"quantize", one(six()));
    CHECK([quantized dtype] == TPRDTypeQUInt8 && [quantized scale] == 0.5 && [quantized zeroPoint] == 3 &&
          [[quantized data] length] == 6);
    CHECK(is_tensor(run(module, @"dequantize", one(quantized)), TPRDTypeFloat32, 2, 3, SIX, sizeof SIX));
    CHECK([six() scale] == 0 && [six() zeroPoint] == 0);
    // Tests each dtype that a model can convert to.
    const size_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8};
    for (int dtype = TPRDTypeUInt8; dtype <= TPRDTypeFloat64; dtype++) {
        TPRTensor *const cast =
            run(module, @"cast", [NSArray arrayWithObjects:six(), [NSNumber numberWithInt:dtype], nil]);
        CHECK([cast dtype] == dtype && [[cast data] length] == 6 * sizes[dtype]);
    }
    // Tests a tensor without elements, and a tensor of rank 0.
    TPRTensor *const empty = [[[TPRTensor alloc] initWithData:[NSData data]
                                                        shape:shape(0, 3)
                                                        dtype:TPRDTypeFloat32
                                                        error:NULL] autorelease];
    CHECK(is_tensor([module forward:one(empty) error:NULL], TPRDTypeFloat32, 0, 3, "", 0));
    const float two = 2;
    TPRTensor *const scalar = [[[TPRTensor alloc] initWithData:[NSData dataWithBytes:&two length:4]
                                                         shape:[NSArray array]
                                                         dtype:TPRDTypeFloat32
                                                         error:NULL] autorelease];
    TPRTensor *const four = [module forward:one(scalar) error:NULL];
    CHECK([[four shape] count] == 0 && *(const float *)[[four data] bytes] == 4);
}

static void test_values(void)
{
    TPRModule *const module = load("kinds.ptl");
    NSNumber *const yes = [NSNumber numberWithBool:YES], *const three = [NSNumber numberWithInt:3];
    NSArray *const scalars =
        run(module, @"scalar", [NSArray arrayWithObjects:yes, three, three, nil]); // passes a bool, an int and a float
    CHECK([scalars count] == 3 && ![[scalars objectAtIndex:0] boolValue] &&
          [[scalars objectAtIndex:1] longLongValue] == 4 && [[scalars objectAtIndex:2] doubleValue] == 1.5);
    CHECK([run(module, @"text", one(@"caf\303\251")) isKindOfClass:[NSString class]]);
    NSArray *const flags =
        run(module, @"bools", one([NSArray arrayWithObjects:yes, [NSNumber numberWithBool:NO], nil]));
    CHECK([flags count] == 2 && ![[flags objectAtIndex:0] boolValue] && [[flags objectAtIndex:1] boolValue]);
    NSArray *const doubles =
        run(module, @"doubles", one([NSArray arrayWithObjects:three, [NSNumber numberWithFloat:0.5f], nil]));
    CHECK([doubles count] == 2 && [[doubles objectAtIndex:0] doubleValue] == 6 &&
          [[doubles objectAtIndex:1] doubleValue] == 1);
    CHECK([run(module, @"longs", one([NSArray array])) count] == 0);
    NSArray *const nested = run(module, @"nested", one(one([NSArray arrayWithObjects:three, three, nil])));
    CHECK([nested count] == 2 && [[nested objectAtIndex:0] count] == 2 &&
          [[[nested objectAtIndex:1] objectAtIndex:0] longLongValue] == 1);
    NSArray *const strings = run(module, @"strings", one([NSArray arrayWithObjects:@"a", @"", nil]));
    CHECK([strings count] == 2 && [[strings objectAtIndex:0] isEqualToString:@"a!"]);
    CHECK([run(module, @"tensors", one([NSArray arrayWithObjects:six(), six(), nil])) count] == 2);
    CHECK(run(module, @"optional", one([NSNull null])) == [NSNull null]);
    CHECK([run(module, @"optional", one(six())) longLongValue] == 6);
    const id key = @"k";
    NSDictionary *const by_name =
        run(module, @"by_name", one([NSDictionary dictionaryWithObjects:(const id[]){three} forKeys:&key count:1]));
    CHECK([by_name isKindOfClass:[NSDictionary class]] && [[by_name objectForKey:@"k"] longLongValue] == 3 &&
          [[by_name objectForKey:@"size"] longLongValue] == 1);
    const id number = three, tensor = six();
    NSDictionary *const by_number =
        run(module, @"by_number", one([NSDictionary dictionaryWithObjects:&tensor forKeys:&number count:1]));
    CHECK([by_number isKindOfClass:[NSDictionary class]] && [by_number count] >= 1);
    NSArray *const pair = run(module, @"pair", one(six())); // the result is a named tuple
    CHECK([pair count] == 2);
    // A returned state can be passed again.
    NSArray *const first = run(module, @"step", [NSArray arrayWithObjects:six(), [NSNull null], [NSNull null], nil]);
    NSArray *const second =
        run(module, @"step", [NSArray arrayWithObjects:six(), [first objectAtIndex:0], [first objectAtIndex:1], nil]);
    CHECK([first count] == 2 && [second count] == 2);
    const long long before = [run(module, @"runs", [NSArray array]) longLongValue];
    CHECK([run(module, @"runs", [NSArray array]) longLongValue] == before + 1);
    NSArray *const complex = run(module, @"complexes", [NSArray array]);
    CHECK([complex count] == 2 && [[complex objectAtIndex:1] doubleValue] == 2);
    CHECK([[[module attribute:@"weight" error:NULL] shape] count] == 2);
    CHECK([[module deviceName] isEqualToString:@"cpu"]);
    TPRModule *const other = [[TPRModule alloc] initWithContentsOfFile:path_of("kinds.ptl") device:@"cuda" error:NULL];
    CHECK([[other deviceName] isEqualToString:@"cpu"]); // the CPU is used, because the device is unavailable
    [other release];
    CHECK([[TPRModule alloc] initWithContentsOfFile:path_of("kinds.ptl") device:@"nope"
                                              error:NULL] == nil); // the device is unknown
    CHECK([[TPRModule alloc] initWithContentsOfFile:path_of("kinds.ptl") device:@"cuda!" error:NULL] == nil);
    CHECK([[module methodNames] count] > 20 &&
          [[[module argumentNamesOfMethod:@"scalar"] objectAtIndex:0] isEqualToString:@"b"]);
    CHECK([[[module argumentTypesOfMethod:@"by_name"] objectAtIndex:0] isEqualToString:@"Dict[str, int]"]);
    CHECK([module argumentTypesOfMethod:@"nope"] == nil);
    CHECK([[module extraFile:@"labels.txt"] length] == 9 && [module extraFile:@"nope"] == nil);
}

static void test_pixels(void)
{
    TPRModule *const module = load("kinds.ptl");
    const long before = CVPixelBufferCount();
    NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
    CVPixelBufferRef buffer = CVPixelBufferMake(kCVPixelFormatType_32BGRA, 3, 2, 64, false);
    TPRTensor *tensor = [[[TPRTensor alloc] initWithPixelBuffer:buffer error:NULL] autorelease];
    CHECK(CVPixelBufferLocks(buffer) == 1);
    const unsigned char *const pixels = CVPixelBufferGetBaseAddress(buffer);
    CHECK([tensor dtype] == TPRDTypeUInt8 && [[tensor shape] count] == 3 &&
          [[[tensor shape] objectAtIndex:2] longLongValue] == 4);
    // `data` copies the rows without their padding. The model reads the pixels in place, with the strides of the pixel
    // buffer.
    NSData *const rows = [tensor data];
    CHECK([rows length] == 24 && memcmp([rows bytes], pixels, 12) == 0 &&
          memcmp((const char *)[rows bytes] + 12, pixels + 64, 12) == 0);
    NSArray *const strides = run(module, @"strides", one(tensor));
    CHECK([[strides objectAtIndex:0] longLongValue] == 64 && [[strides objectAtIndex:1] longLongValue] == 4);
    TPRTensor *const same = [run(module, @"same", one(tensor)) retain];
    CVPixelBufferRelease(buffer);
    [pool drain];
    CHECK(CVPixelBufferCount() == before + 1); // the result keeps the pixel buffer
    CHECK([[same data] length] == 24);
    [same release];

    CVPixelBufferRef planes = CVPixelBufferMake(kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, 4, 4, 16, true);
    tensor = [[[TPRTensor alloc] initWithPixelBuffer:planes plane:1 error:NULL] autorelease];
    CHECK([[tensor shape] count] == 3 && [[[tensor shape] objectAtIndex:0] longLongValue] == 2);
    NSError *error = nil;
    FAILS([[TPRTensor alloc] initWithPixelBuffer:planes plane:2 error:&error], error, TPRErrorArgument, "no plane 2");
    CVPixelBufferRelease(planes);
    CVPixelBufferRef other = CVPixelBufferMake(kCVPixelFormatType_422YpCbCr8, 4, 4, 16, false);
    FAILS([[TPRTensor alloc] initWithPixelBuffer:other error:&error], error, TPRErrorUnsupported, "32BGRA");
    FAILS([[TPRTensor alloc] initWithPixelBuffer:other plane:1 error:&error], error, TPRErrorArgument, "no plane 1");
    CVPixelBufferRelease(other);
    CVPixelBufferRef narrow = CVPixelBufferMake(kCVPixelFormatType_32BGRA, 4, 4, 15, false);
    FAILS([[TPRTensor alloc] initWithPixelBuffer:narrow error:&error], error, TPRErrorUnsupported, "no rows");
    CVPixelBufferRefuseLock(narrow);
    FAILS([[TPRTensor alloc] initWithPixelBuffer:narrow error:&error], error, TPRErrorResource, "locked");
    CVPixelBufferRelease(narrow);
    CVPixelBufferRef half = CVPixelBufferMake(kCVPixelFormatType_OneComponent16Half, 4, 4, 16, false);
    tensor = [[[TPRTensor alloc] initWithPixelBuffer:half error:NULL] autorelease];
    CHECK([tensor dtype] == TPRDTypeFloat16 && [[tensor shape] count] == 2);
    CVPixelBufferRelease(half);
}

static void test_advice(void)
{
    const double pixels[3 * 12 * 12] = {0};
    NSError *error = nil;
    NSMutableArray *const sizes = [NSMutableArray array];
    const long long wanted[] = {1, 3, 12, 12};
    for (size_t i = 0; i < 4; i++) {
        [sizes addObject:[NSNumber numberWithLongLong:wanted[i]]];
    }
    TPRTensor *const image = [[[TPRTensor alloc] initWithData:[NSData dataWithBytes:pixels length:sizeof pixels]
                                                        shape:sizes
                                                        dtype:TPRDTypeFloat64
                                                        error:NULL] autorelease];
    CHECK([load("../samples/s01_convnet.ptl") forward:one(image) error:&error] == nil);
    NSString *const detail = [[error userInfo] objectForKey:TPRErrorDetailKey];
    CHECK(detail != nil && strstr([detail UTF8String], "input 0 is float64 [1, 3, 12, 12]; the model takes it "
                                                       "converted: float32 [1, 3, 12, 12]\n") != NULL);
}

static void test_wrong(void)
{
    TPRModule *const module = load("kinds.ptl");
    NSError *error = nil;
    NSData *const data = [NSData dataWithBytes:SIX length:sizeof SIX];
    // Passes nil, which a caller without nullability checks may do.
    NSString *const no_string = nil;
    NSData *const no_data = nil;
    NSArray *const no_array = nil;
    FAILS([[TPRModule alloc] initWithContentsOfFile:no_string error:&error], error, TPRErrorArgument, "no path");
    FAILS([[TPRModule alloc] initWithData:no_data error:&error], error, TPRErrorArgument, "no data");
    FAILS([[TPRModule alloc] initWithContentsOfURL:[NSURL URLWithString:@"ftp://x"] error:&error], error,
          TPRErrorArgument, "file");
    FAILS([module forward:no_array error:&error], error, TPRErrorArgument, "nil");
    FAILS([module runMethod:no_string inputs:[NSArray array] error:&error], error, TPRErrorArgument, "nil");
    FAILS([module attribute:no_string error:&error], error, TPRErrorArgument, "nil");
    CHECK([module extraFile:no_string] == nil && [module argumentNamesOfMethod:no_string] == nil);
    FAILS([[TPRTensor alloc] initWithData:no_data shape:shape(2, 3) dtype:TPRDTypeFloat32 error:&error], error,
          TPRErrorArgument, "nil");
    FAILS([[TPRTensor alloc] initWithData:data shape:no_array dtype:TPRDTypeFloat32 error:&error], error,
          TPRErrorArgument, "nil");
    CHECK([[TPRModule alloc] initWithContentsOfFile:no_string error:NULL] == nil);
    CHECK([module forward:no_array error:NULL] == nil);
    // Invalid tensors must be refused.
    FAILS([[TPRTensor alloc] initWithData:data shape:shape(2, 2) dtype:TPRDTypeFloat32 error:&error], error,
          TPRErrorArgument, "24 bytes");
    FAILS([[TPRTensor alloc] initWithData:data shape:shape(-2, 3) dtype:TPRDTypeFloat32 error:&error], error,
          TPRErrorArgument, "dimension 0");
    FAILS([[TPRTensor alloc] initWithData:data shape:shape(1ll << 40, 1ll << 40) dtype:TPRDTypeFloat32 error:&error],
          error, TPRErrorArgument, "24 bytes");
    FAILS([[TPRTensor alloc] initWithData:data shape:shape(0, 3) dtype:TPRDTypeFloat32 error:&error], error,
          TPRErrorArgument, "24 bytes");
    FAILS([[TPRTensor alloc] initWithData:data shape:(NSArray *)one(@"2") dtype:TPRDTypeFloat32 error:&error], error,
          TPRErrorArgument, "dimension 0");
    NSMutableArray *const many = [NSMutableArray arrayWithCapacity:17];
    for (int i = 0; i < 17; i++) {
        [many addObject:[NSNumber numberWithInt:1]];
    }
    FAILS([[TPRTensor alloc] initWithData:data shape:many dtype:TPRDTypeFloat32 error:&error], error, TPRErrorArgument,
          "17 dimensions");
    for (long dtype = -2; dtype < 40; dtype++) {
        TPRTensor *const made = [[TPRTensor alloc] initWithData:[NSData data]
                                                          shape:shape(0, 1)
                                                          dtype:dtype
                                                          error:&error];
        CHECK((made == nil) == (dtype < 0 || dtype > 15 || (dtype >= 12 && dtype <= 14)));
        [made release];
    }
    // Invalid inputs must be refused.
    FAILS([module forward:[NSArray array] error:&error], error, TPRErrorArgument, "x");
    NSArray *const twice = [NSArray arrayWithObjects:six(), six(), nil];
    FAILS([module forward:twice error:&error], error, TPRErrorArgument, "");
    FAILS([module forward:one(@"text") error:&error], error, TPRErrorArgument, "");
    FAILS([module forward:one(data) error:&error], error, TPRErrorArgument, "Data");
    FAILS([module forward:one([NSNumber numberWithInt:1]) error:&error], error, TPRErrorArgument, "");
    FAILS([module runMethod:@"nope" inputs:[NSArray array] error:&error], error, TPRErrorArgument, "nope");
    FAILS([module attribute:@"nope" error:&error], error, TPRErrorArgument, "nope");
    NSArray *const mixed = [NSArray arrayWithObjects:[NSNumber numberWithInt:1], @"a", nil];
    FAILS([module runMethod:@"longs" inputs:one(mixed) error:&error], error, TPRErrorArgument, "");
    FAILS([module runMethod:@"longs" inputs:one(one([NSNumber numberWithUnsignedLongLong:~0ull])) error:&error], error,
          TPRErrorArgument, "too large");
    id deep = [NSArray array];
    for (int i = 0; i < 1000; i++) {
        deep = one(deep);
    }
    FAILS([module runMethod:@"nested" inputs:one(deep) error:&error], error, TPRErrorArgument, "deeply");
    NSArray *shared = [NSArray array];
    for (int i = 0; i < 50; i++) {
        shared = [NSArray arrayWithObjects:shared, shared, nil];
    }
    FAILS([module runMethod:@"nested" inputs:one(shared) error:&error], error, TPRErrorArgument, "too many objects");
    // If the model raises an exception, the error has the text of the exception, and the module remains usable.
    FAILS([module runMethod:@"fail" inputs:one(@"so it is") error:&error], error, TPRErrorRaised, "so it is");
    CHECK([[[error userInfo] objectForKey:TPRErrorDetailKey] length] != 0);
    CHECK([module forward:one(six()) error:NULL] != nil);
}

static void test_damaged(void)
{
    NSError *error = nil;
    FAILS([[TPRModule alloc] initWithContentsOfFile:@"/no/such/model.ptl" error:&error], error, TPRErrorFile,
          "model.ptl");
    FAILS([[TPRModule alloc] initWithContentsOfFile:path_of("") error:&error], error, TPRErrorFile, "");
    NSData *const whole = file("kinds.ptl");
    CHECK([[[TPRModule alloc] initWithData:whole error:NULL] autorelease] != nil);
    CHECK([[[TPRModule alloc] initWithContentsOfURL:[NSURL fileURLWithPath:path_of("kinds.pt")]
                                              error:NULL] autorelease] != nil);
    for (size_t size = 1; size < [whole length]; size += 1 + [whole length] / 40) {
        NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
        NSData *const part = [NSData dataWithBytes:[whole bytes] length:size];
        error = nil;
        CHECK([[TPRModule alloc] initWithData:part error:&error] == nil && [error code] == TPRErrorFile);
        [pool drain];
    }
    srand(1);
    for (int i = 0; i < 200; i++) {
        NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
        unsigned char *const bytes = malloc([whole length]);
        memcpy(bytes, [whole bytes], [whole length]);
        for (int k = 0; k < 20; k++) {
            bytes[(size_t)rand() % [whole length]] = (unsigned char)rand();
        }
        error = nil;
        NSData *const data = [NSData dataWithBytesNoCopy:bytes length:[whole length] freeWhenDone:YES];
        TPRModule *const module = [[[TPRModule alloc] initWithData:data error:&error] autorelease];
        CHECK(module != nil || [[error localizedDescription] length] != 0);
        (void)[module forward:one(six()) error:&error];
        [pool drain];
    }
}

// ---- threads

static TPRModule *shared;

static void *use(void *argument)
{
    const float add = (float)*(int *)argument;
    for (int i = 0; i < 50; i++) {
        NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
        float values[6];
        for (int k = 0; k < 6; k++) {
            values[k] = SIX[k] + add;
        }
        TPRTensor *const input = [[[TPRTensor alloc] initWithData:[NSData dataWithBytes:values length:sizeof values]
                                                            shape:shape(2, 3)
                                                            dtype:TPRDTypeFloat32
                                                            error:NULL] autorelease];
        TPRTensor *const output = [shared forward:one(input) error:NULL];
        NSError *error = nil;
        const bool raised =
            [shared runMethod:@"fail" inputs:one(@"no") error:&error] == nil && [error code] == TPRErrorRaised;
        const float *const got = [[output data] bytes];
        for (int k = 0; k < 6; k++) {
            if (!raised || got == NULL || got[k] != 2 * values[k]) {
                *(int *)argument = -1;
            }
        }
        [pool drain];
    }
    return NULL;
}

static void *run_long(void *argument)
{
    NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
    static const float ones[64 * 64] = {1};
    TPRTensor *const input = [[[TPRTensor alloc] initWithData:[NSData dataWithBytes:ones length:sizeof ones]
                                                        shape:shape(64, 64)
                                                        dtype:TPRDTypeFloat32
                                                        error:NULL] autorelease];
    NSError *error = nil;
    const id result = [shared forward:[NSArray arrayWithObjects:input, [NSNumber numberWithLongLong:1ll << 40], nil]
                                error:&error];
    *(long *)argument = result == nil ? [error code] : -1;
    [pool drain];
    return NULL;
}

static void test_threads(void)
{
    shared = load("kinds.ptl");
    pthread_t threads[4];
    int numbers[4];
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, use, &numbers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK(numbers[i] == i);
    }
    shared = load("slow.ptl");
    long code = 0;
    CHECK(pthread_create(&threads[0], NULL, run_long, &code) == 0);
    [shared cancel];
    (void)pthread_join(threads[0], NULL);
    CHECK(code == TPRErrorCancelled);
    NSError *error = nil;
    CHECK(![TPRModule setCacheDirectory:@"no such directory" error:&error] && error.code == TPRErrorArgument);
    CHECK([TPRModule setCacheDirectory:nil error:NULL]);
    const NSUInteger count = TPRModule.threads;
    TPRModule.threads = 2;
    CHECK(count >= 1 && TPRModule.threads == 2);
    TPRModule.threads = 0;
    CHECK(TPRModule.threads >= 1);
}

int main(int argc, char **argv)
{
    void (*const tests[])(void) = {test_tensors, test_values,  test_pixels, test_advice,
                                   test_wrong,   test_damaged, test_threads};
    if (argc != 2) {
        return 2;
    }
    folder = argv[1];
    const long buffers = CVPixelBufferCount();
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        NSAutoreleasePool *const pool = [[NSAutoreleasePool alloc] init];
        tests[i]();
        [pool drain];
    }
    CHECK(CVPixelBufferCount() == buffers);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
