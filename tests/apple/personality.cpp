// SPDX-License-Identifier: BSD-2-Clause
// Replaces clang's exception handler for GNU's libobjc, which does not support C++ exceptions, unlike the handler for
// Apple's runtime. The tables that clang makes for Objective-C++ have C++'s format for both runtimes, so C++'s own
// handler can read them.
#include <unwind.h>

extern "C" _Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
                                                    _Unwind_Context *);

extern "C" _Unwind_Reason_Code __gnu_objc_personality_v0(int version, _Unwind_Action actions,
                                                         _Unwind_Exception_Class kind, _Unwind_Exception *exception,
                                                         _Unwind_Context *context)
{
    return __gxx_personality_v0(version, actions, kind, exception, context);
}
