// SPDX-License-Identifier: BSD-2-Clause
// Implements the stand-ins of include/ with GNU's libobjc. References are counted manually; autoreleased objects are
// released when their pool is drained. Objects have no zones, and strings are UTF-8.
#import <CoreVideo/CoreVideo.h>
#import <Foundation/Foundation.h>

#include <objc/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- objects

// Calls the functions that clang generates to construct and destroy C++ members of an object, for each class of its
// hierarchy.
static void call_cxx(Class class_, id object, const char *name)
{
    const SEL selector = sel_registerName(name);
    for (Class at = class_; at != Nil; at = class_getSuperclass(at)) {
        unsigned count = 0;
        Method *const methods = class_copyMethodList(at, &count);
        for (unsigned i = 0; i < count; i++) {
            if (sel_isEqual(method_getName(methods[i]), selector)) {
                ((id(*)(id, SEL))method_getImplementation(methods[i]))(object, selector);
            }
        }
        free(methods);
    }
}

@implementation NSObject

+ (instancetype)alloc
{
    NSObject *const object = class_createInstance(self, 0);
    object->_references = 1;
    call_cxx(self, object, ".cxx_construct");
    return object;
}

+ (instancetype)new
{
    return [[self alloc] init];
}

+ (Class)class
{
    return self;
}

- (instancetype)init
{
    return self;
}

- (void)dealloc
{
    call_cxx(object_getClass(self), self, ".cxx_destruct");
    object_dispose(self);
}

- (Class)class
{
    return object_getClass(self);
}

- (BOOL)isKindOfClass:(Class)class_
{
    for (Class at = object_getClass(self); at != Nil; at = class_getSuperclass(at)) {
        if (at == class_) {
            return YES;
        }
    }
    return NO;
}

- (BOOL)isEqual:(id)other
{
    return self == other;
}

- (NSUInteger)hash
{
    return (NSUInteger)self / sizeof(void *);
}

- (instancetype)retain
{
    (void)__sync_add_and_fetch(&_references, 1);
    return self;
}

- (void)release
{
    if (__sync_sub_and_fetch(&_references, 1) == 0) {
        [self dealloc];
    }
}

- (id)copy
{
    return [self copyWithZone:NULL];
}

- (id)copyWithZone:(NSZone *)zone
{
    (void)zone;
    return [self retain];
}

- (NSString *)description
{
    return NSStringFromClass([self class]);
}

// ---- pools

static _Thread_local struct pool *innermost;

- (instancetype)autorelease
{
    if (innermost == NULL) {
        fprintf(stderr, "an object of class %s is autoreleased without a pool\n", class_getName(object_getClass(self)));
        abort();
    }
    if (innermost->count == innermost->room) {
        innermost->room = 2 * innermost->room + 16;
        innermost->objects = realloc(innermost->objects, innermost->room * sizeof(NSObject *));
    }
    innermost->objects[innermost->count++] = self;
    return self;
}

@end

@implementation NSAutoreleasePool {
    struct pool {
        struct pool *outer;
        NSObject **objects;
        size_t count, room;
    } _pool;
}

- (instancetype)init
{
    _pool.outer = innermost;
    innermost = &_pool;
    return self;
}

- (void)drain
{
    while (_pool.count != 0) {
        [_pool.objects[--_pool.count] release];
    }
    innermost = _pool.outer;
    free(_pool.objects);
    [self release];
}

@end

// ---- strings

@interface TestString : NSString {
  @public
    char *_text;
    NSUInteger _bytes;
}
@end

@implementation NSString

+ (instancetype)stringWithUTF8String:(const char *)text
{
    return [[[NSString alloc] initWithBytes:text length:strlen(text) encoding:NSUTF8StringEncoding] autorelease];
}

+ (instancetype)stringWithFormat:(NSString *)format, ...
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    const int length = vasprintf(&text, [format UTF8String], arguments);
    va_end(arguments);
    NSString *const string = [[NSString alloc] initWithBytes:text
                                                      length:(NSUInteger)length
                                                    encoding:NSUTF8StringEncoding];
    free(text);
    return [string autorelease];
}

- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding
{
    (void)encoding;
    [self release];
    for (NSUInteger i = 0; i < length; i++) {
        // The byte 0xff never occurs in UTF-8. This check is sufficient for the tests.
        if (((const unsigned char *)bytes)[i] == 0xff) {
            return nil;
        }
    }
    TestString *const string = [TestString alloc];
    string->_text = malloc(length + 1);
    memcpy(string->_text, bytes, length);
    string->_text[length] = '\0';
    string->_bytes = length;
    return string;
}

- (const char *)UTF8String
{
    return "";
}

- (const char *)fileSystemRepresentation
{
    return [self UTF8String];
}

- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding
{
    (void)encoding;
    return strlen([self UTF8String]);
}

- (NSUInteger)length
{
    return [self lengthOfBytesUsingEncoding:NSUTF8StringEncoding];
}

- (BOOL)isEqualToString:(NSString *)other
{
    return [self length] == [other length] && memcmp([self UTF8String], [other UTF8String], [self length]) == 0;
}

- (BOOL)isEqual:(id)other
{
    return [other isKindOfClass:[NSString class]] && [self isEqualToString:other];
}

- (NSUInteger)hash
{
    return [self length];
}

- (NSString *)description
{
    return self;
}

- (NSArray<NSString *> *)componentsSeparatedByString:(NSString *)separator
{
    NSMutableArray *const parts = [NSMutableArray arrayWithCapacity:1];
    const char *at = [self UTF8String];
    for (const char *end; (end = strstr(at, [separator UTF8String])) != NULL; at = end + [separator length]) {
        [parts addObject:[[[NSString alloc] initWithBytes:at
                                                   length:(NSUInteger)(end - at)
                                                 encoding:NSUTF8StringEncoding] autorelease]];
    }
    [parts addObject:[NSString stringWithUTF8String:at]];
    return parts;
}

@end

@implementation TestString

- (void)dealloc
{
    free(_text);
    [super dealloc];
}

- (const char *)UTF8String
{
    return _text;
}

- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding
{
    (void)encoding;
    return _bytes;
}

@end

// Constant strings exist forever, in the compiler's layout, which has no reference count.
struct constant_string {
    Class isa;
    const char *text;
    unsigned length;
};

@implementation NSConstantString

- (const char *)UTF8String
{
    return ((const struct constant_string *)(const void *)self)->text;
}

- (instancetype)retain
{
    return self;
}

- (void)release
{
}

- (instancetype)autorelease
{
    return self;
}

@end

// ---- numbers

@implementation NSNumber {
    char _type[2];
    long long _whole;
    double _real;
}

static NSNumber *number(char type, long long whole, double real)
{
    NSNumber *const object = [[NSNumber alloc] init];
    object->_type[0] = type;
    object->_whole = whole;
    object->_real = real;
    return [object autorelease];
}

#define NUMBER(name, ctype, code)                                                                                      \
    +(NSNumber *)numberWith##name : (ctype)value                                                                       \
    {                                                                                                                  \
        return number(code, (long long)value, (double)value);                                                          \
    }
NUMBER(Bool, BOOL, 'c') // Apple's numbers have the type 'c' for BOOL too
NUMBER(Char, char, 'c')
NUMBER(Int, int, 'i')
NUMBER(UnsignedInt, unsigned, 'I')
NUMBER(Long, long, 'l')
NUMBER(UnsignedLong, unsigned long, 'L')
NUMBER(LongLong, long long, 'q')
NUMBER(UnsignedLongLong, unsigned long long, 'Q')
NUMBER(Float, float, 'f')
NUMBER(Double, double, 'd')

- (const char *)objCType
{
    return _type;
}

- (BOOL)boolValue
{
    return _real != 0;
}

- (int)intValue
{
    return (int)_whole;
}

- (float)floatValue
{
    return (float)_real;
}

- (double)doubleValue
{
    return _real;
}

- (long long)longLongValue
{
    return _whole;
}

- (unsigned long long)unsignedLongLongValue
{
    return (unsigned long long)_whole;
}

- (BOOL)isEqual:(id)other
{
    return [other isKindOfClass:[NSNumber class]] && [other doubleValue] == _real;
}

@end

// ---- collections

@implementation NSArray {
  @public
    id *_objects;
    NSUInteger _count, _room;
}

static void append(NSArray *array, id object)
{
    if (object == nil) {
        fprintf(stderr, "nil cannot be in an array\n");
        abort();
    }
    if (array->_count == array->_room) {
        array->_room = 2 * array->_room + 4;
        array->_objects = realloc(array->_objects, array->_room * sizeof(id));
    }
    array->_objects[array->_count++] = [object retain];
}

+ (instancetype)array
{
    return [[[self alloc] init] autorelease];
}

+ (instancetype)arrayWithObjects:(id)first, ...
{
    NSArray *const array = [self array];
    va_list more;
    va_start(more, first);
    for (id object = first; object != nil; object = va_arg(more, id)) {
        append(array, object);
    }
    va_end(more);
    return array;
}

+ (instancetype)arrayWithObjects:(const id *)objects count:(NSUInteger)count
{
    NSArray *const array = [self array];
    for (NSUInteger i = 0; i < count; i++) {
        append(array, objects[i]);
    }
    return array;
}

- (void)dealloc
{
    for (NSUInteger i = 0; i < _count; i++) {
        [_objects[i] release];
    }
    free(_objects);
    [super dealloc];
}

- (NSUInteger)count
{
    return _count;
}

- (id)objectAtIndex:(NSUInteger)index
{
    if (index >= _count) {
        fprintf(stderr, "an array of %lu objects has none at %lu\n", _count, index);
        abort();
    }
    return _objects[index];
}

@end

@implementation NSMutableArray

+ (instancetype)arrayWithCapacity:(NSUInteger)capacity
{
    (void)capacity;
    return [self array];
}

- (void)addObject:(id)object
{
    append(self, object);
}

- (id)copyWithZone:(NSZone *)zone
{
    (void)zone;
    return [[NSArray arrayWithObjects:_objects count:_count] retain];
}

@end

@implementation NSDictionary {
  @public
    NSMutableArray *_keys, *_values;
}

- (instancetype)init
{
    _keys = [[NSMutableArray alloc] init];
    _values = [[NSMutableArray alloc] init];
    return self;
}

+ (instancetype)dictionaryWithObjects:(const id *)objects forKeys:(const id *)keys count:(NSUInteger)count
{
    NSDictionary *const dictionary = [[[self alloc] init] autorelease];
    for (NSUInteger i = 0; i < count; i++) {
        [dictionary->_keys addObject:keys[i]];
        [dictionary->_values addObject:objects[i]];
    }
    return dictionary;
}

- (void)dealloc
{
    [_keys release];
    [_values release];
    [super dealloc];
}

- (NSUInteger)count
{
    return [_keys count];
}

- (id)objectForKey:(id)key
{
    for (NSUInteger i = 0; i < [_keys count]; i++) {
        if ([[_keys objectAtIndex:i] isEqual:key]) {
            return [_values objectAtIndex:i];
        }
    }
    return nil;
}

- (NSArray *)allKeys
{
    return [[_keys copy] autorelease];
}

@end

@implementation NSMutableDictionary

+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity
{
    (void)capacity;
    return [[[self alloc] init] autorelease];
}

- (void)setObject:(id)object forKey:(id)key // the tests never set a key twice
{
    [_keys addObject:key];
    [_values addObject:object];
}

@end

// ---- data, URLs, errors

@interface TestData : NSData {
  @public
    void *_bytes;
    NSUInteger _length;
}
@end

@implementation NSData

+ (instancetype)data
{
    return [NSData dataWithBytes:"" length:0];
}

+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length
{
    void *const copy = malloc(length != 0 ? length : 1);
    memcpy(copy, length != 0 ? bytes : "", length);
    return [NSData dataWithBytesNoCopy:copy length:length freeWhenDone:YES];
}

+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)length freeWhenDone:(BOOL)free_
{
    TestData *const data = [[TestData alloc] init];
    data->_bytes = bytes;
    data->_length = length;
    (void)free_; // free_ is ignored, because all callers pass memory from malloc
    return [data autorelease];
}

- (NSUInteger)length
{
    return 0;
}

- (const void *)bytes
{
    return NULL;
}

@end

@implementation TestData

- (void)dealloc
{
    free(_bytes);
    [super dealloc];
}

- (NSUInteger)length
{
    return _length;
}

- (const void *)bytes
{
    return _length != 0 ? _bytes : NULL; // Apple's NSData may also return NULL if it is empty
}

@end

@implementation NSNull

+ (NSNull *)null
{
    static NSNull *null;
    if (null == nil) {
        NSNull *const made = [[NSNull alloc] init];
        if (!__sync_bool_compare_and_swap(&null, nil, made)) {
            [made release];
        }
    }
    return null;
}

@end

@implementation NSURL {
    NSString *_path;
    BOOL _is_file;
}

+ (NSURL *)fileURLWithPath:(NSString *)path
{
    NSURL *const url = [[[NSURL alloc] init] autorelease];
    url->_path = [path retain];
    url->_is_file = YES;
    return url;
}

+ (NSURL *)URLWithString:(NSString *)text
{
    NSURL *const url = [NSURL fileURLWithPath:text];
    url->_is_file = NO;
    return url;
}

- (void)dealloc
{
    [_path release];
    [super dealloc];
}

- (BOOL)isFileURL
{
    return _is_file;
}

- (NSString *)path
{
    return _path;
}

@end

@implementation NSProcessInfo

+ (NSProcessInfo *)processInfo
{
    return [[[NSProcessInfo alloc] init] autorelease];
}

- (NSOperatingSystemVersion)operatingSystemVersion
{
    return (NSOperatingSystemVersion){12, 0, 0};
}

@end

@implementation NSError {
    NSErrorDomain _domain;
    NSInteger _code;
    NSDictionary *_info;
}

+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)info
{
    NSError *const error = [[[NSError alloc] init] autorelease];
    error->_domain = [domain retain];
    error->_code = code;
    error->_info = [info retain];
    return error;
}

- (void)dealloc
{
    [_domain release];
    [_info release];
    [super dealloc];
}

- (NSErrorDomain)domain
{
    return _domain;
}

- (NSInteger)code
{
    return _code;
}

- (NSDictionary *)userInfo
{
    return _info;
}

- (NSString *)localizedDescription
{
    return [_info objectForKey:NSLocalizedDescriptionKey];
}

@end

NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";

NSString *NSStringFromClass(Class class_)
{
    return [NSString stringWithUTF8String:class_getName(class_)];
}

// Supports the formats that the apps use: %s, and %@ at the end.
void NSLog(NSString *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *const text = [format UTF8String], *const object = strstr(text, "%@");
    if (object != NULL) {
        fprintf(stderr, "%.*s%s\n", (int)(object - text), text,
                [[va_arg(arguments, NSObject *) description] UTF8String]);
    } else {
        vfprintf(stderr, text, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
}

// LeakSanitizer ignores memory of objc_calloc: the runtime never frees its tables of classes and selectors, and objects
// are not allocated there.
extern const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:objc_malloc\n";
}
