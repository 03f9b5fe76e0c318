// SPDX-License-Identifier: BSD-2-Clause
// TPRModule.h over the C library: errors, the context, and modules. The file compiles with and without automatic
// reference counting and uses no blocks.
#import "TPRShared.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

NSErrorDomain const TPRErrorDomain = @"dev.taper.TPRErrorDomain";
NSErrorUserInfoKey const TPRErrorDetailKey = @"TPRErrorDetail";

// ---- errors

NSString *tpr_text(const char *text)
{
    NSString *string = [NSString stringWithUTF8String:text];
    return string != nil ? string : @"(no UTF-8)";
}

id tpr_fail(NSError **error, NSInteger code, NSString *message, NSString *detail)
{
    if (error != NULL) {
        NSMutableDictionary *info = [NSMutableDictionary dictionaryWithCapacity:2];
        [info setObject:message forKey:NSLocalizedDescriptionKey];
        if (detail != nil) {
            [info setObject:detail forKey:TPRErrorDetailKey];
        }
        *error = [NSError errorWithDomain:TPRErrorDomain code:code userInfo:info];
    }
    return nil;
}

id tpr_wrong(NSError **error, NSString *message)
{
    return tpr_fail(error, TPRErrorArgument, message, nil);
}

// Converts the library's error. `said` is NULL if there was no memory for it.
id tpr_fail_as(NSError **error, taper_error *said, taper_status status)
{
    const char *message = said != NULL ? taper_error_message(said) : "there is not enough memory";
    const char *detail = said != NULL ? taper_error_detail(said) : "";
    (void)tpr_fail(error, (NSInteger)status, tpr_text(message), *detail != '\0' ? tpr_text(detail) : nil);
    taper_error_destroy(said);
    return nil;
}

// ---- the context: one for the process

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static taper_context *shared_context;

// Modules and tensors that still exist keep the parts of the context that they need.
static void release_context(void)
{
    (void)pthread_mutex_lock(&context_lock);
    taper_context_release(shared_context);
    shared_context = NULL;
    (void)pthread_mutex_unlock(&context_lock);
}

taper_context *tpr_context(void)
{
    static bool registered;
    (void)pthread_mutex_lock(&context_lock);
    if (shared_context == NULL && taper_context_create(NULL, &shared_context, NULL) != TAPER_OK) {
        shared_context = NULL; // memory ran out; the next call tries again
    }
    if (shared_context != NULL && !registered) {
        registered = atexit(release_context) == 0;
    }
    taper_context *const found = shared_context;
    (void)pthread_mutex_unlock(&context_lock);
    return found;
}

void tpr_release_object(void *object)
{
    TPR_LET_GO(object);
}

// ---- modules

@implementation TPRModule {
    taper_model *_model;
    taper_session *_session;
    pthread_mutex_t _lock; // protects the session, except for -cancel
    bool _has_lock;
}

+ (NSUInteger)threads
{
    return tpr_context() != NULL ? taper_context_threads(tpr_context()) : 1;
}

+ (void)setThreads:(NSUInteger)threads
{
    if (tpr_context() != NULL) {
        taper_context_set_threads(tpr_context(), threads < UINT_MAX ? (unsigned)threads : UINT_MAX);
    }
}

+ (BOOL)setCacheDirectory:(nullable NSString *)path error:(NSError **)error
{
    taper_error *said = taper_error_create();
    const taper_status status =
        taper_context_set_cache_dir(tpr_context(), path != nil ? [path fileSystemRepresentation] : NULL, said);
    if (status != TAPER_OK) {
        (void)tpr_fail_as(error, said, status);
        return NO;
    }
    taper_error_destroy(said);
    return YES;
}

// Loads the bytes of `data`, or the file at `path` if `data` is nil.
- (nullable instancetype)initWithPath:(nullable NSString *)path
                               orData:(nullable NSData *)data
                               device:(nullable NSString *)device
                                error:(NSError **)error
{
    self = [super init];
    if (self == nil) {
        return nil;
    }
    _has_lock = pthread_mutex_init(&_lock, NULL) == 0;
    taper_context *const shared = tpr_context();
    if (!_has_lock || shared == NULL) {
        (void)tpr_fail_as(error, NULL, TAPER_ERROR_RESOURCE);
        return TPR_FAILED(self);
    }
    // PyTorch Mobile's loaders call eval(), whichever mode the model was saved in.
    taper_device_choice choice = {.struct_size = sizeof choice};
    taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .flags = TAPER_LOAD_EVALUATION};
    taper_error *said = taper_error_create();
    taper_status status = TAPER_OK;
    if (device != nil) {
        status = taper_device_parse([device UTF8String], &choice, said);
        options.device = &choice;
    }
    if (status != TAPER_OK) {
        // The name of the device is wrong.
    } else if (data != nil) {
        void *const held = TPR_RETAINED(data);
        status = taper_model_load_memory(shared, [data bytes], [data length], tpr_release_object, held, &options,
                                         &_model, said);
        if (status != TAPER_OK) {
            tpr_release_object(held);
        }
    } else {
        status = taper_model_load(shared, [path fileSystemRepresentation], &options, &_model, said);
    }
    if (status == TAPER_OK) {
        status = taper_session_create(_model, NULL, &_session, said);
    }
    if (status != TAPER_OK) {
        if (status == TAPER_ERROR_FILE && path != nil && said != NULL) { // adds the path to the message
            (void)tpr_fail(error, TPRErrorFile,
                           [NSString stringWithFormat:@"%s: %s", [path UTF8String], taper_error_message(said)], nil);
            taper_error_destroy(said);
        } else {
            (void)tpr_fail_as(error, said, status);
        }
        return TPR_FAILED(self);
    }
    taper_error_destroy(said);
    return self;
}

- (nullable instancetype)initWithContentsOfFile:(NSString *)path error:(NSError **)error
{
    return [self initWithContentsOfFile:path device:nil error:error];
}

- (nullable instancetype)initWithContentsOfFile:(NSString *)path
                                         device:(nullable NSString *)device
                                          error:(NSError **)error
{
    if ([path length] == 0) {
        (void)tpr_wrong(error, @"there is no path");
        return TPR_FAILED(self);
    }
    return [self initWithPath:path orData:nil device:device error:error];
}

- (nullable instancetype)initWithContentsOfURL:(NSURL *)url error:(NSError **)error
{
    if (![url isFileURL]) {
        (void)tpr_wrong(error, @"the URL is not that of a file");
        return TPR_FAILED(self);
    }
    return [self initWithContentsOfFile:[url path] error:error];
}

- (nullable instancetype)initWithData:(NSData *)data error:(NSError **)error
{
    if ([data length] == 0) {
        (void)tpr_wrong(error, @"there is no data");
        return TPR_FAILED(self);
    }
    return [self initWithPath:nil orData:data device:nil error:error];
}

- (void)dealloc
{
    taper_session_destroy(_session);
    taper_model_release(_model);
    if (_has_lock) {
        (void)pthread_mutex_destroy(&_lock);
    }
    TPR_DEALLOC_SUPER;
}

- (nullable id)forward:(NSArray *)inputs error:(NSError **)error
{
    return [self runMethod:@"forward" inputs:inputs error:error];
}

- (nullable id)runMethod:(NSString *)name inputs:(NSArray *)inputs error:(NSError **)error
{
    const char *const method = [name UTF8String];
    if (method == NULL || inputs == nil) {
        return tpr_wrong(error, @"the method's name or the inputs are nil");
    }
    const size_t count = [inputs count];
    taper_value **const values = calloc(count != 0 ? count : 1, sizeof *values);
    if (values == NULL) {
        return tpr_fail_as(error, NULL, TAPER_ERROR_RESOURCE);
    }
    bool converted = true;
    for (size_t i = 0; i < count && converted; i++) {
        values[i] = tpr_value_of([inputs objectAtIndex:i], taper_model_argument_type(_model, method, i), error);
        converted = values[i] != NULL;
    }
    taper_value *result = NULL;
    id object = nil;
    if (converted) {
        taper_error *said = taper_error_create();
        (void)pthread_mutex_lock(&_lock);
        const taper_status status = taper_session_run(_session, method, values, count, &result, said);
        if (status == TAPER_ERROR_ARGUMENT) {
            // The advice is optional: if this call fails, the error is still complete.
            (void)!taper_session_advise(_session, method, values, count, said);
        }
        (void)pthread_mutex_unlock(&_lock);
        if (status != TAPER_OK) {
            (void)tpr_fail_as(error, said, status);
        } else {
            taper_error_destroy(said);
            object = tpr_object_of(result, error);
        }
    }
    taper_value_release(result);
    for (size_t i = 0; i < count; i++) {
        taper_value_release(values[i]);
    }
    free(values);
    return object;
}

- (nullable id)attribute:(NSString *)path error:(NSError **)error
{
    taper_value *value = NULL;
    if ([path UTF8String] == NULL) {
        return tpr_wrong(error, @"the attribute's name is nil");
    }
    taper_error *said = taper_error_create();
    (void)pthread_mutex_lock(&_lock);
    const taper_status status = taper_session_attribute(_session, [path UTF8String], &value, said);
    (void)pthread_mutex_unlock(&_lock);
    if (status != TAPER_OK) {
        return tpr_fail_as(error, said, status);
    }
    taper_error_destroy(said);
    const id object = tpr_object_of(value, error);
    taper_value_release(value);
    return object;
}

- (void)cancel
{
    taper_session_cancel(_session);
}

- (NSString *)deviceName
{
    return tpr_text(taper_model_device(_model));
}

- (NSArray<NSString *> *)methodNames
{
    const size_t count = taper_model_method_count(_model);
    NSMutableArray *const names = [NSMutableArray arrayWithCapacity:count];
    for (size_t i = 0; i < count; i++) {
        [names addObject:tpr_text(taper_model_method_name(_model, i))];
    }
    return names;
}

typedef const char *(*question)(const taper_model *model, const char *method, size_t index);

// Returns the names or types of all arguments, or nil if the file does not contain them.
- (nullable NSArray<NSString *> *)ask:(question)ask ofMethod:(NSString *)name
{
    const char *const method = [name UTF8String];
    const int count = method != NULL ? taper_model_method_arguments(_model, method) : -1;
    if (count < 0) {
        return nil;
    }
    NSMutableArray *const answers = [NSMutableArray arrayWithCapacity:(NSUInteger)count];
    for (int i = 0; i < count; i++) {
        const char *const answer = ask(_model, method, (size_t)i);
        [answers addObject:answer != NULL ? tpr_text(answer) : @""];
    }
    return answers;
}

- (nullable NSArray<NSString *> *)argumentNamesOfMethod:(NSString *)name
{
    return [self ask:taper_model_argument_name ofMethod:name];
}

- (nullable NSArray<NSString *> *)argumentTypesOfMethod:(NSString *)name
{
    return [self ask:taper_model_argument_text ofMethod:name];
}

- (nullable NSData *)extraFile:(NSString *)name
{
    const void *data = NULL;
    size_t size = 0;
    if ([name UTF8String] == NULL || taper_model_extra(_model, [name UTF8String], &data, &size, NULL) != TAPER_OK) {
        return nil;
    }
    return [NSData dataWithBytes:data length:size];
}

@end
