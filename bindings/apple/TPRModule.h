// SPDX-License-Identifier: BSD-2-Clause
// Runs PyTorch Mobile's models, .ptl and .pt, from Swift and Objective-C:
//
//     let module = try TPRModule(contentsOfFile: path)
//     let input = try TPRTensor(data: pixels, shape: [1, 3, 224, 224], dtype: .float32)
//     let scores = try module.forward([input]) as! TPRTensor
//     let floats = scores.data!.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
//
// Inputs and results are TPRTensor, NSNumber, NSString, NSNull, NSArray (for a list or a tuple) and NSDictionary. The
// declared types of a method decide how numbers and arrays are converted.
//
// Any thread may use a module; its runs are serialized. Tensors are immutable and may be shared.
#import <CoreVideo/CoreVideo.h>
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

// PyTorch uses the same numbers.
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
// A key in an error's userInfo: further lines, such as all missing operators or the place in the model's code.
FOUNDATION_EXPORT NSErrorUserInfoKey const TPRErrorDetailKey;

typedef NS_ERROR_ENUM(TPRErrorDomain, TPRError){
    TPRErrorArgument = 1,    // an argument is wrong; the message names it
    TPRErrorFile = 2,        // the model file is damaged, has another format or could not be read
    TPRErrorUnsupported = 3, // the model is valid, but not supported here
    TPRErrorResource = 4,    // memory ran out, or a limit was reached
    TPRErrorDevice = 5,      // an accelerator failed
    TPRErrorRaised = 6,      // the model raised an exception; the message is its text
    TPRErrorCancelled = 7,   // -cancel was called
    TPRErrorInternal = 8,    // a bug in Taper
};

// A tensor over the caller's memory or over the memory of a result.
@interface TPRTensor : NSObject

@property(nonatomic, readonly) TPRDType dtype;
@property(nonatomic, readonly) NSArray<NSNumber *> *shape;
// The elements in C order, without a copy if they are contiguous. The bytes stay valid as long as the data object. nil
// if an element is smaller than a byte or memory runs out.
@property(nonatomic, readonly, nullable) NSData *data;
// The scale and zero point of a quantized tensor; 0 for other tensors and for quantization per channel.
@property(nonatomic, readonly) double scale;
@property(nonatomic, readonly) int64_t zeroPoint;

// Makes a tensor over the bytes of `data`, without a copy. The bytes must not change while the tensor or a result over
// it is used. `data` has exactly the elements of the shape, in C order.
- (nullable instancetype)initWithData:(NSData *)data
                                shape:(NSArray<NSNumber *> *)shape
                                dtype:(TPRDType)dtype
                                error:(NSError **)error;

// Makes a tensor over the pixels of a buffer, without a copy. The shape is height x width x 4 with dtype uint8 for
// 32BGRA, and height x width for one channel. Without `plane`, a buffer with planes gives plane 0. The tensor retains
// the buffer and keeps it locked for reading.
- (nullable instancetype)initWithPixelBuffer:(CVPixelBufferRef)buffer error:(NSError **)error;
- (nullable instancetype)initWithPixelBuffer:(CVPixelBufferRef)buffer plane:(NSUInteger)plane error:(NSError **)error;

- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

@end

@interface TPRModule : NSObject

// The number of threads that all modules share, including the calling thread. 0 selects the number of the processor's
// big cores.
@property(class, nonatomic) NSUInteger threads;
// Sets the directory where models that are loaded later cache data for the next start of the app, mainly packed
// weights. Each model has one file, about as large as the model, which may be deleted at any time. A directory in
// NSCachesDirectory is suitable. nil disables the cache.
+ (BOOL)setCacheDirectory:(nullable NSString *)path error:(NSError **)error;

@property(nonatomic, readonly) NSArray<NSString *> *methodNames;
// The device of the module: "cpu", or "metal" if Metal is available and the file was prepared for it or Metal was
// requested.
@property(nonatomic, readonly) NSString *deviceName;

- (nullable instancetype)initWithContentsOfFile:(NSString *)path error:(NSError **)error;
- (nullable instancetype)initWithContentsOfURL:(NSURL *)url error:(NSError **)error;
// Device names are "cpu", "metal" and "metal!". Without Metal, "metal" runs on the CPU and "metal!" fails. nil selects
// "metal" if Metal is available and the file was prepared for it, otherwise "cpu".
- (nullable instancetype)initWithContentsOfFile:(NSString *)path
                                         device:(nullable NSString *)device
                                          error:(NSError **)error;
// The module, and the tensors that share its memory, retain the data. The data must not change.
- (nullable instancetype)initWithData:(NSData *)data error:(NSError **)error;

// Runs "forward". None is returned as NSNull.
- (nullable id)forward:(NSArray *)inputs error:(NSError **)error;
// Runs a method. Missing inputs at the end have the method's defaults.
- (nullable id)runMethod:(NSString *)name inputs:(NSArray *)inputs error:(NSError **)error;
// Returns an attribute by its path, for example "layer1.0.weight".
- (nullable id)attribute:(NSString *)path error:(NSError **)error;
// Cancels the current run, or the next run if none is active. The cancelled run ends with TPRErrorCancelled. Any thread
// may call this method.
- (void)cancel;

// These functions return nil if the file does not contain the names or types, or has no such method.
- (nullable NSArray<NSString *> *)argumentNamesOfMethod:(NSString *)name;
- (nullable NSArray<NSString *> *)argumentTypesOfMethod:(NSString *)name;
// Returns a file saved with the model by _extra_files, or nil if there is none.
- (nullable NSData *)extraFile:(NSString *)name;

- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
