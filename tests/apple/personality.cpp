// SPDX-License-Identifier: BSD-2-Clause
// clang's exception handlers for GNU's libobjc know no C++ exceptions, as those for Apple's do. What it makes of
// Objective-C++ for either has the form of C++'s own tables, so C++'s own handler reads them.
#include <unwind.h>

extern "C" _Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
                                                    _Unwind_Context *);

extern "C" _Unwind_Reason_Code __gnu_objc_personality_v0(int version, _Unwind_Action actions,
                                                         _Unwind_Exception_Class kind, _Unwind_Exception *exception,
                                                         _Unwind_Context *context)
{
    return __gxx_personality_v0(version, actions, kind, exception, context);
}
