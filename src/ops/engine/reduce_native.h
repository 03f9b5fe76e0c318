// SPDX-License-Identifier: BSD-2-Clause
// Part of reduce.c: reductions in the elements' own dtype (ops/kernels/native.h).
#ifndef TAPER_OPS_ENGINE_REDUCE_NATIVE_H
#define TAPER_OPS_ENGINE_REDUCE_NATIVE_H

// Returns the kernels for the dtype of the elements in memory, or NULL. The sum of bools is the number of true
// elements.
static const taper_native_folder *find_native(const taper_run *run, const taper_reduce *r, taper_native_fold fold)
{
    const taper_dtype dtype = (taper_dtype)r->x->dtype;
    const bool whole = r->class_ == TAPER_EW_I64;
    const taper_fold_type type = dtype == TAPER_F32 && r->class_ == TAPER_EW_F32       ? TAPER_FOLD_F32
                                 : dtype == TAPER_F64 && r->class_ == TAPER_EW_F64     ? TAPER_FOLD_F64
                                 : dtype == TAPER_I64 && whole                         ? TAPER_FOLD_I64
                                 : dtype == TAPER_I32 && whole                         ? TAPER_FOLD_I32
                                 : (dtype == TAPER_U8 || dtype == TAPER_BOOL) && whole ? TAPER_FOLD_U8
                                 : dtype == TAPER_C64 && r->class_ == TAPER_EW_C128    ? TAPER_FOLD_C64
                                                                                       : TAPER_FOLD_TYPES;
    if (dtype == TAPER_BOOL && fold == TAPER_FOLD_SUM) {
        fold = TAPER_FOLD_NONZERO;
    }
    if (run->portable || fold == TAPER_FOLD_NONE || type == TAPER_FOLD_TYPES ||
        (needs_doubles(r) && type == TAPER_FOLD_C64)) {
        return NULL;
    }
    const taper_native_folder *folder = &taper_native_select(run->cpu)->folds[fold][type];
    return folder->line != NULL ? folder : NULL;
}

static taper_cast_function *find_read_cast(const taper_run *run, const taper_reduce *r)
{
    return taper_ew_find_cast(run->cpu, (taper_dtype)r->x->dtype, taper_ew_native(r->class_));
}

#endif
