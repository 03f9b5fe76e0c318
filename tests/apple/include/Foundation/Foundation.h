// SPDX-License-Identifier: BSD-2-Clause
// Replaces Foundation on machines without it: the few classes that the Apple binding, its tests and the example apps
// use, on top of libobjc. foundation.m implements them.
#ifndef TAPER_TEST_FOUNDATION_H
#define TAPER_TEST_FOUNDATION_H

#include <limits.h>
#include <objc/objc.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_DESIGNATED_INITIALIZER
#define NS_SWIFT_NAME(name)
#define NS_ENUM(type, name)                                                                                            \
    enum name : type name;                                                                                             \
    enum name : type
#define NS_ERROR_ENUM(domain, name)                                                                                    \
    enum name : long name;                                                                                             \
    enum name : long
#ifdef __cplusplus
#define FOUNDATION_EXPORT extern "C"
#else
#define FOUNDATION_EXPORT extern
#endif

typedef long NSInteger;
typedef unsigned long NSUInteger;
#define NSIntegerMax LONG_MAX
typedef struct NSZone NSZone;
typedef struct NSRange {
    NSUInteger location, length;
} NSRange;
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length)
{
    return (NSRange){location, length};
}
typedef struct NSOperatingSystemVersion {
    NSInteger majorVersion, minorVersion, patchVersion;
} NSOperatingSystemVersion;
typedef NSUInteger NSStringEncoding;
enum { NSUTF8StringEncoding = 4 };

@class NSString, NSNumber, NSArray<T>, NSDictionary<K, V>;
typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;

@protocol NSObject
- (Class)class;
- (BOOL)isKindOfClass:(Class)class_;
- (BOOL)isEqual:(id)other;
- (NSUInteger)hash;
- (instancetype)retain;
- (void)release;
- (instancetype)autorelease;
@end

__attribute__((objc_root_class))
@interface NSObject<NSObject> {
  @public
    Class isa;
    long _references;
}
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
- (id)copyWithZone:(NSZone *)zone;
- (NSString *)description;
@end

@interface NSAutoreleasePool : NSObject
- (void)drain;
@end

@interface NSString : NSObject
+ (instancetype)stringWithUTF8String:(const char *)text;
+ (instancetype)stringWithFormat:(NSString *)format, ... __attribute__((format(NSString, 1, 2)));
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding;
- (const char *)UTF8String;
- (const char *)fileSystemRepresentation;
- (NSUInteger)length;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)isEqualToString:(NSString *)other;
- (NSArray<NSString *> *)componentsSeparatedByString:(NSString *)separator;
@end

// The class of string literals @"".
@interface NSConstantString : NSString
@end

@interface NSNumber : NSObject
+ (NSNumber *)numberWithBool:(BOOL)value;
+ (NSNumber *)numberWithChar:(char)value;
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithUnsignedInt:(unsigned)value;
+ (NSNumber *)numberWithLong:(long)value;
+ (NSNumber *)numberWithUnsignedLong:(unsigned long)value;
+ (NSNumber *)numberWithLongLong:(long long)value;
+ (NSNumber *)numberWithUnsignedLongLong:(unsigned long long)value;
+ (NSNumber *)numberWithFloat:(float)value;
+ (NSNumber *)numberWithDouble:(double)value;
- (const char *)objCType;
- (BOOL)boolValue;
- (int)intValue;
- (float)floatValue;
- (double)doubleValue;
- (long long)longLongValue;
- (unsigned long long)unsignedLongLongValue;
@end

@interface NSArray<T> : NSObject
+ (instancetype)array;
+ (instancetype)arrayWithObjects:(T)first, ... __attribute__((sentinel));
+ (instancetype)arrayWithObjects:(const T *)objects count:(NSUInteger)count;
- (NSUInteger)count;
- (T)objectAtIndex:(NSUInteger)index;
@end

@interface NSMutableArray<T> : NSArray <T>
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity;
- (void)addObject:(T)object;
@end

@interface NSDictionary<K, V> : NSObject
+ (instancetype)dictionaryWithObjects:(const V *)objects forKeys:(const K *)keys count:(NSUInteger)count;
- (NSUInteger)count;
- (V)objectForKey:(K)key;
- (NSArray<K> *)allKeys;
@end

@interface NSMutableDictionary<K, V> : NSDictionary <K, V>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (void)setObject:(V)object forKey:(K)key;
@end

@interface NSData : NSObject
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)length freeWhenDone:(BOOL)free_;
- (NSUInteger)length;
- (const void *)bytes;
@end

@interface NSNull : NSObject
+ (NSNull *)null;
@end

@interface NSURL : NSObject
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)URLWithString:(NSString *)text;
- (BOOL)isFileURL;
- (NSString *)path;
@end

@interface NSProcessInfo : NSObject
+ (NSProcessInfo *)processInfo;
- (NSOperatingSystemVersion)operatingSystemVersion;
@end

@interface NSError : NSObject
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)info;
- (NSErrorDomain)domain;
- (NSInteger)code;
- (NSDictionary *)userInfo;
- (NSString *)localizedDescription;
@end

FOUNDATION_EXPORT NSErrorUserInfoKey const NSLocalizedDescriptionKey;
FOUNDATION_EXPORT NSString *NSStringFromClass(Class class_);
FOUNDATION_EXPORT void NSLog(NSString *format, ...);

#endif
