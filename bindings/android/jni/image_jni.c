// SPDX-License-Identifier: BSD-2-Clause
// The native methods of TensorImageUtils. Java has checked the sizes against the output buffer.
#include "binding.h"
#include "image.h"
#include "org_pytorch_torchvision_ImageFunctions.h" // generated from the Java class

static void norm_of(JNIEnv *env, jfloatArray mean, jfloatArray std, image_norm *norm)
{
    (*env)->GetFloatArrayRegion(env, mean, 0, 3, norm->mean);
    (*env)->GetFloatArrayRegion(env, std, 0, 3, norm->std);
}

JNIEXPORT void JNICALL Java_org_pytorch_torchvision_ImageFunctions_bitmap(JNIEnv *env, jclass type, jintArray pixels,
                                                                          jint count, jfloatArray mean, jfloatArray std,
                                                                          jobject out, jint offset, jboolean last)
{
    (void)type;
    image_norm norm;
    norm_of(env, mean, std, &norm);
    float *to = (*env)->GetDirectBufferAddress(env, out);
    jint *from = count > 0 ? (*env)->GetPrimitiveArrayCritical(env, pixels, NULL) : NULL;
    if (to != NULL && from != NULL) {
        image_from_pixels((const uint32_t *)from, (size_t)count, &norm, last, to + offset);
    }
    if (from != NULL) {
        (*env)->ReleasePrimitiveArrayCritical(env, pixels, from, JNI_ABORT);
    } else if (count > 0) {
        binding_no_error(env);
    }
}

JNIEXPORT void JNICALL Java_org_pytorch_torchvision_ImageFunctions_yuv420(
    JNIEnv *env, jclass type, jobject y, jint y_row, jint y_pixel, jobject u, jobject v, jint uv_row, jint uv_pixel,
    jint width, jint height, jint degrees, jint tensor_width, jint tensor_height, jfloatArray mean, jfloatArray std,
    jobject out, jint offset, jboolean last)
{
    (void)type;
    image_norm norm;
    norm_of(env, mean, std, &norm);
    const image_yuv image = {
        .y = (*env)->GetDirectBufferAddress(env, y),
        .u = (*env)->GetDirectBufferAddress(env, u),
        .v = (*env)->GetDirectBufferAddress(env, v),
        .y_size = (size_t)(*env)->GetDirectBufferCapacity(env, y),
        .u_size = (size_t)(*env)->GetDirectBufferCapacity(env, u),
        .v_size = (size_t)(*env)->GetDirectBufferCapacity(env, v),
        .y_row = y_row,
        .y_pixel = y_pixel,
        .uv_row = uv_row,
        .uv_pixel = uv_pixel,
        .width = width,
        .height = height,
    };
    const image_crop crop = {.width = tensor_width, .height = tensor_height, .degrees = degrees};
    float *to = (*env)->GetDirectBufferAddress(env, out);
    const char *wrong = image.y == NULL || image.u == NULL || image.v == NULL || to == NULL
                            ? "Image planes are not direct buffers"
                            : image_from_yuv(&image, &crop, &norm, last, to + offset);
    if (wrong != NULL) {
        binding_throw(env, &binding.argument, "%s", wrong);
    }
}
