// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the files of the class: macros for reference counting with and without ARC, errors, and the
// context.
#import "TPRModule.h"

#include <taper/taper_app.h>
#include <taper/taper_compile.h>
#include <taper/taper_device.h>

#if __has_feature(objc_arc)
#define TPR_RETAINED(object) ((__bridge_retained void *)(object))
#define TPR_LET_GO(pointer) ((void)(__bridge_transfer id)(pointer))
#define TPR_AUTORELEASE(object) (object)
#define TPR_RELEASE(object) ((void)0)
#define TPR_RETAIN(object) (object)
#define TPR_DEALLOC_SUPER ((void)0)
#define TPR_FAILED(object) (nil)
#else
#define TPR_RETAINED(object) ((void *)[(object) retain])
#define TPR_LET_GO(pointer) [(id)(pointer) release]
#define TPR_AUTORELEASE(object) [(object) autorelease]
#define TPR_RELEASE(object) [(object) release]
#define TPR_RETAIN(object) [(object) retain]
#define TPR_DEALLOC_SUPER [super dealloc]
#define TPR_FAILED(object) ([(object) release], (id)nil)
#endif

NS_ASSUME_NONNULL_BEGIN

// Sets *error and returns nil.
_Nullable id tpr_fail(NSError **error, NSInteger code, NSString *message, NSString *_Nullable detail);
_Nullable id tpr_wrong(NSError **error, NSString *message); // fails with TPRErrorArgument
_Nullable id tpr_fail_as(NSError **error, taper_error *_Nullable said,
                         taper_status status); // converts the library's error and destroys `said`
NSString *tpr_text(const char *text);

taper_context *_Nullable tpr_context(void); // returns the context of the process, or NULL if memory runs out
void tpr_release_object(void *object);
taper_value *_Nullable tpr_value_of(id object, const taper_type *_Nullable type,
                                    NSError **error); // returns a new reference; `type` may be NULL
_Nullable id tpr_object_of(const taper_value *value, NSError **error);

@interface TPRTensor ()
- (nullable instancetype)initWithValue:
    (nullable taper_value *)value; // retains the value; returns nil if it is no tensor
- (taper_value *)value;            // returns the value without a new reference
@end

NS_ASSUME_NONNULL_END
