// SPDX-License-Identifier: BSD-2-Clause
// Converts values of the library to objects, and objects to values of the type that a method declares (NULL if
// unknown).
#import "TPRShared.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// An array may contain one array twice on each level of nesting, so the number of visits could grow exponentially.
// MOST_ITEMS limits the visits below the first level of an input or result.
enum { MOST_NESTED = 64, MOST_TYPE = 2048, MOST_ITEMS = 1 << 20 };

// ---- types

// Returns the text of a type for the library, or NULL if the type is unknown or its text is too long. The library then
// takes the type of the first item.
static const char *text_of(const taper_type *type, char text[MOST_TYPE])
{
    return type != NULL && taper_type_text(type, text, MOST_TYPE) < MOST_TYPE ? text : NULL;
}

// ---- objects to values

typedef struct conversion {
    taper_context *context;
    taper_error *said;
    NSString *wrong; // message that replaces the library's message
    size_t left;     // number of items that may still be converted
} conversion;

static taper_status convert(conversion *c, id object, const taper_type *type, unsigned depth, taper_value **value);

static taper_status refuse(conversion *c, NSString *why)
{
    c->wrong = why;
    return TAPER_ERROR_ARGUMENT;
}

static taper_status convert_number(conversion *c, NSNumber *number, const taper_type *type, taper_value **value)
{
    const char kind = *[number objCType];
    const bool is_float = kind == 'f' || kind == 'd';
    if (taper_type_kind_of(type) == TAPER_TYPE_BOOL) {
        return taper_value_bool(c->context, [number boolValue] ? 1 : 0, value, c->said);
    }
    if (taper_type_kind_of(type) == TAPER_TYPE_FLOAT) {
        return taper_value_double(c->context, [number doubleValue], value, c -> said);
    }
    if (is_float) {
        return taper_value_double(c->context, [number doubleValue], value, c -> said);
    }
    // Foundation's booleans have the type char. Any one-byte number is therefore a bool, unless the method declares
    // int.
    if ((kind == 'c' || kind == 'B') && taper_type_kind_of(type) != TAPER_TYPE_INT) {
        return taper_value_bool(c->context, [number boolValue] ? 1 : 0, value, c->said);
    }
    if (kind == 'Q' && [number unsignedLongLongValue] > INT64_MAX) {
        return refuse(c, @"a number is too large for a model's int");
    }
    return taper_value_int(c->context, [number longLongValue], value, c -> said);
}

static void release_all(taper_value **values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_value_release(values[i]);
    }
    free(values);
}

static taper_value **room_for(size_t count)
{
    return calloc(count != 0 ? count : 1, sizeof(taper_value *));
}

static taper_status convert_array(conversion *c, NSArray *array, const taper_type *type, unsigned depth, taper_value **value)
{
    char text[MOST_TYPE];
    const size_t count = [array count];
    const taper_type_kind kind = taper_type_kind_of(type);
    const bool list = kind == TAPER_TYPE_LIST;
    const bool tuple = kind == TAPER_TYPE_TUPLE || kind == TAPER_TYPE_CLASS; // a class may be a named tuple
    taper_value **const items = room_for(count);
    if (items == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        const taper_type *const of_item = list ? taper_type_item(type, 0) : tuple ? taper_type_item(type, i) : NULL;
        status = convert(c, [array objectAtIndex:i], of_item, depth + 1, &items[i]);
    }
    if (status == TAPER_OK) {
        status = tuple ? taper_value_tuple(c->context, items, count, value, c->said)
                       : taper_value_list(c->context, list ? text_of(taper_type_item(type, 0), text) : NULL, items, count, value, c->said);
    }
    release_all(items, count);
    return status;
}

static taper_status convert_dictionary(conversion *c, NSDictionary *dictionary, const taper_type *type, unsigned depth,
                                       taper_value **value)
{
    char key_text[MOST_TYPE], value_text[MOST_TYPE];
    const bool dict = taper_type_kind_of(type) == TAPER_TYPE_DICT;
    const taper_type *const of_key = dict ? taper_type_item(type, 0) : NULL;
    const taper_type *const of_value = dict ? taper_type_item(type, 1) : NULL;
    NSArray *const names = [dictionary allKeys];
    const size_t count = [names count];
    taper_value **const keys = room_for(count), **const values = room_for(count);
    taper_status status = keys != NULL && values != NULL ? TAPER_OK : TAPER_ERROR_RESOURCE;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        const id key = [names objectAtIndex:i];
        status = convert(c, key, of_key, depth + 1, &keys[i]);
        if (status == TAPER_OK) {
            status = convert(c, [dictionary objectForKey:key], of_value, depth + 1, &values[i]);
        }
    }
    if (status == TAPER_OK) {
        status = taper_value_dict(c->context, text_of(of_key, key_text), text_of(of_value, value_text), keys, values, count,
                                  value, c->said);
    }
    release_all(keys, keys != NULL ? count : 0);
    release_all(values, values != NULL ? count : 0);
    return status;
}

static taper_status convert(conversion *c, id object, const taper_type *type, unsigned depth, taper_value **value)
{
    *value = NULL;
    if (depth > MOST_NESTED) {
        return refuse(c, @"arrays and dictionaries are nested too deeply");
    }
    if (depth > 1 && c->left-- == 0) {
        c->left = 0;
        return refuse(c, @"arrays and dictionaries hold too many objects, each counted as often as it is held");
    }
    while (taper_type_kind_of(type) == TAPER_TYPE_OPTIONAL) {
        type = taper_type_item(type, 0);
    }
    if (object == nil || object == [NSNull null]) {
        return taper_value_none(c->context, value, c->said);
    }
    if ([object isKindOfClass:[TPRTensor class]]) {
        *value = taper_value_retain([(TPRTensor *)object value]);
        return TAPER_OK;
    }
    if ([object isKindOfClass:[NSNumber class]]) {
        return convert_number(c, object, type, value);
    }
    if ([object isKindOfClass:[NSString class]]) {
        const char *const text = [object UTF8String];
        return text == NULL
                   ? refuse(c, @"a string has no UTF-8")
                   : taper_value_string(c->context, text, [object lengthOfBytesUsingEncoding:NSUTF8StringEncoding],
                                        value, c -> said);
    }
    if ([object isKindOfClass:[NSArray class]]) {
        return convert_array(c, object, type, depth, value);
    }
    if ([object isKindOfClass:[NSDictionary class]]) {
        return convert_dictionary(c, object, type, depth, value);
    }
    return refuse(c, [NSString stringWithFormat:@"an object of class %s is nothing that a model takes",
                                                [NSStringFromClass([object class]) UTF8String]]);
}

taper_value *tpr_value_of(id object, const taper_type *type, NSError **error)
{
    conversion c = {tpr_context(), taper_error_create(), nil, MOST_ITEMS};
    taper_value *value = NULL;
    const taper_status status = c.context != NULL ? convert(&c, object, type, 0, &value) : TAPER_ERROR_RESOURCE;
    if (status == TAPER_OK) {
        taper_error_destroy(c.said);
        return value;
    }
    if (c.wrong != nil) {
        taper_error_destroy(c.said);
        (void)tpr_wrong(error, c.wrong);
    } else if (status == TAPER_ERROR_RESOURCE && c.said != NULL && taper_error_status(c.said) == TAPER_OK) {
        taper_error_destroy(c.said);
        (void)tpr_fail_as(error, NULL, status);
    } else {
        (void)tpr_fail_as(error, c.said, status);
    }
    return NULL;
}

// ---- values to objects

static id object_of(const taper_value *value, unsigned depth, size_t *left, NSError **error);

static id item_of(const taper_value *value, size_t index, bool key, unsigned depth, size_t *left, NSError **error)
{
    if (depth > 0 && (*left)-- == 0) {
        *left = 0;
        return tpr_fail(error, TPRErrorUnsupported,
                        @"a result holds too many items, each counted as often as it is held", nil);
    }
    taper_value *item = NULL;
    taper_error *said = taper_error_create();
    const taper_status status =
        key ? taper_value_key(value, index, &item, said) : taper_value_item(value, index, &item, said);
    if (status != TAPER_OK) {
        return tpr_fail_as(error, said, status);
    }
    taper_error_destroy(said);
    const id object = object_of(item, depth + 1, left, error);
    taper_value_release(item);
    return object;
}

static id array_of(const taper_value *value, unsigned depth, size_t *left, NSError **error)
{
    const size_t count = taper_value_count(value);
    NSMutableArray *const array = [NSMutableArray arrayWithCapacity:count];
    for (size_t i = 0; i < count; i++) {
        const id item = item_of(value, i, false, depth, left, error);
        if (item == nil) {
            return nil;
        }
        [array addObject:item];
    }
    return array;
}

static id dictionary_of(const taper_value *value, unsigned depth, size_t *left, NSError **error)
{
    const size_t count = taper_value_count(value);
    NSMutableDictionary *const dictionary = [NSMutableDictionary dictionaryWithCapacity:count];
    for (size_t i = 0; i < count; i++) {
        const id key = item_of(value, i, true, depth, left, error);
        const id item = key != nil ? item_of(value, i, false, depth, left, error) : nil;
        if (item == nil) {
            return nil;
        }
        [dictionary setObject:item forKey:key];
    }
    return dictionary;
}

static id object_of(const taper_value *value, unsigned depth, size_t *left, NSError **error)
{
    int flag;
    int64_t number;
    double real, imaginary;
    const char *text;
    size_t length;
    TPRTensor *tensor;
    NSString *string;
    if (depth > MOST_NESTED) {
        return tpr_fail(error, TPRErrorUnsupported, @"a result is nested too deeply", nil);
    }
    switch (taper_value_kind(value)) {
    case TAPER_KIND_NONE:
        return [NSNull null];
    case TAPER_KIND_BOOL:
        return taper_value_get_bool(value, &flag, NULL) == TAPER_OK ? [NSNumber numberWithBool:flag != 0] : nil;
    case TAPER_KIND_INT:
        return taper_value_get_int(value, &number, NULL) == TAPER_OK ? [NSNumber numberWithLongLong:number] : nil;
    case TAPER_KIND_DOUBLE:
        return taper_value_get_double(value, &real, NULL) == TAPER_OK ? [NSNumber numberWithDouble:real] : nil;
    case TAPER_KIND_COMPLEX:
        if (taper_value_get_complex(value, &real, &imaginary, NULL) != TAPER_OK) {
            return nil;
        }
        return [NSArray arrayWithObjects:[NSNumber numberWithDouble:real], [NSNumber numberWithDouble:imaginary], nil];
    case TAPER_KIND_STRING:
        if (taper_value_get_string(value, &text, &length, NULL) != TAPER_OK) {
            return nil;
        }
        string = [[NSString alloc] initWithBytes:text length:length encoding:NSUTF8StringEncoding];
        return string != nil ? (id)TPR_AUTORELEASE(string) : (id)[NSData dataWithBytes:text length:length]; // the text is not UTF-8
    case TAPER_KIND_TENSOR:
        tensor = [[TPRTensor alloc] initWithValue:(taper_value *)(uintptr_t)value];
        return tensor != nil ? (id)TPR_AUTORELEASE(tensor)
                             : tpr_fail(error, TPRErrorUnsupported, @"a result is an undefined tensor", nil);
    case TAPER_KIND_LIST:
    case TAPER_KIND_TUPLE:
        return array_of(value, depth, left, error);
    case TAPER_KIND_DICT:
        return dictionary_of(value, depth, left, error);
    case TAPER_KIND_DEVICE:
    case TAPER_KIND_OBJECT:
    case TAPER_KIND_OTHER:
        break;
    }
    return tpr_fail(error, TPRErrorUnsupported, @"a result is an object of the model's own, which has no counterpart",
                    nil);
}

id tpr_object_of(const taper_value *value, NSError **error)
{
    size_t left = MOST_ITEMS;
    return object_of(value, 0, &left, error);
}
