// SPDX-License-Identifier: BSD-2-Clause
// Runs PyTorch Mobile's models (.ptl and .pt alike) from Swift and Objective-C:
//
//     let module = try TPRModule(contentsOfFile: path)
//     let input = try TPRTensor(data: pixels, shape: [1, 3, 224, 224], dtype: .float32)
//     let scores = try module.forward([input]) as! TPRTensor
//     let floats = scores.data!.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
//
// What goes into a model and what comes out of it is a TPRTensor, an NSNumber, NSString or NSNull, an NSArray (of a
// list or a tuple) or an NSDictionary of these. A method's declared types decide what becomes of a number or an array.
//
// Any threads may use a module: its runs come one after the other. Tensors do not change, and may be shared.
#import <CoreVideo/CoreVideo.h>
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

// The numbers are PyTorch's.
typedef NS_ENUM(NSInteger, TPRDType) {
    TPRDTypeUInt8 = 0,
    TPRDTypeInt8 = 1,
    TPRDTypeInt16 = 2,
    TPRDTypeInt32 = 3,
    TPRDTypeInt64 = 4,
    TPRDTypeFloat16 = 5,
    TPRDTypeFloat32 = 6,
    TPRDTypeFloat64 = 7,
    TPRDTypeComplex32 = 8,
    TPRDTypeComplex64 = 9,
    TPRDTypeComplex128 = 10,
    TPRDTypeBool = 11,
    TPRDTypeQInt8 = 12,
    TPRDTypeQUInt8 = 13,
    TPRDTypeQInt32 = 14,
    TPRDTypeBFloat16 = 15,
};

FOUNDATION_EXPORT NSErrorDomain const TPRErrorDomain;
// In an error's userInfo: further lines, such as all operators that are missing, or where in the model it happened.
FOUNDATION_EXPORT NSErrorUserInfoKey const TPRErrorDetailKey;

typedef NS_ERROR_ENUM(TPRErrorDomain, TPRError){
    TPRErrorArgument = 1,    // what was passed is wrong; the message names it
    TPRErrorFile = 2,        // the model file is damaged, foreign or could not be read
    TPRErrorUnsupported = 3, // valid, but not supported here
    TPRErrorResource = 4,    // memory or a limit ran out
    TPRErrorDevice = 5,      // an accelerator failed
    TPRErrorRaised = 6,      // the model itself raised an exception; the message is its text
    TPRErrorCancelled = 7,   // -cancel was called
    TPRErrorInternal = 8,    // a bug in Taper
};

// Elements of one dtype. Over the caller's memory, or over that of a result.
@interface TPRTensor : NSObject

@property(nonatomic, readonly) TPRDType dtype;
@property(nonatomic, readonly) NSArray<NSNumber *> *shape;
// The elements in order, without a copy where they lie so in memory. They stay valid for as long as the data is held.
// nil: an element has less than a byte, or there is not enough memory.
@property(nonatomic, readonly, nullable) NSData *data;
// Of a quantized tensor, the numbers by which its integers are read; 0 otherwise, and where they differ by channel.
@property(nonatomic, readonly) double scale;
@property(nonatomic, readonly) int64_t zeroPoint;

// Over the bytes of `data`, without a copy: they must not change while the tensor or a result over it is used. As many
// bytes as the shape has elements, in order.
- (nullable instancetype)initWithData:(NSData *)data
                                shape:(NSArray<NSNumber *> *)shape
                                dtype:(TPRDType)dtype
                                error:(NSError **)error;

// Over the pixels of a buffer, without a copy: height x width x 4 of uint8 for a 32BGRA, for example, and height x
// width for one channel. Of a buffer with planes, plane 0. The buffer is kept, and locked for reading as long as the
// tensor is.
- (nullable instancetype)initWithPixelBuffer:(CVPixelBufferRef)buffer error:(NSError **)error;
- (nullable instancetype)initWithPixelBuffer:(CVPixelBufferRef)buffer plane:(NSUInteger)plane error:(NSError **)error;

- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

@end

@interface TPRModule : NSObject

// The threads that all modules share, this one's included; 0: as many as the processor has big cores.
@property(class, nonatomic) NSUInteger threads;
// Models that are loaded later keep there what takes long to make on this device, packed weights above all, for the
// next start of the app: a file for each, about as large as it, which may be deleted at any time. A directory in
// NSCachesDirectory is meant for that. nil: nowhere.
+ (BOOL)setCacheDirectory:(nullable NSString *)path error:(NSError **)error;

@property(nonatomic, readonly) NSArray<NSString *> *methodNames;
// Where it runs: "cpu", or "metal" of a file that was prepared for it or a module that was asked to, where Metal is.
@property(nonatomic, readonly) NSString *deviceName;

- (nullable instancetype)initWithContentsOfFile:(NSString *)path error:(NSError **)error;
- (nullable instancetype)initWithContentsOfURL:(NSURL *)url error:(NSError **)error;
// "cpu"; "metal", where the CPU stands in for a device that is not there, "metal!", which fails then; nil: as above.
- (nullable instancetype)initWithContentsOfFile:(NSString *)path
                                         device:(nullable NSString *)device
                                          error:(NSError **)error;
// The data is kept as long as the module and what stands on it, and must not change.
- (nullable instancetype)initWithData:(NSData *)data error:(NSError **)error;

// Runs "forward". None comes back as NSNull.
- (nullable id)forward:(NSArray *)inputs error:(NSError **)error;
// Missing inputs at the end take the method's defaults.
- (nullable id)runMethod:(NSString *)name inputs:(NSArray *)inputs error:(NSError **)error;
// "layer1.0.weight"
- (nullable id)attribute:(NSString *)path error:(NSError **)error;
// From any thread: the run in progress, or the next one, ends with TPRErrorCancelled.
- (void)cancel;

// nil where the file does not say, or has no such method.
- (nullable NSArray<NSString *> *)argumentNamesOfMethod:(NSString *)name;
- (nullable NSArray<NSString *> *)argumentTypesOfMethod:(NSString *)name;
// A file that was saved beside the model with _extra_files; nil where there is none.
- (nullable NSData *)extraFile:(NSString *)name;

- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
