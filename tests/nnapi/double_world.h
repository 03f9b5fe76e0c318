// SPDX-License-Identifier: BSD-2-Clause
// The double that this process loads as "libneuralnetworks.so": its level, its switches, what it says of misuse.
#ifndef TAPER_TESTS_DOUBLE_WORLD_H
#define TAPER_TESTS_DOUBLE_WORLD_H

int double_level(void);                   // TAPER_TEST_NNAPI_LEVEL
void double_switch(const char *switches); // TAPER_NNAPI_DOUBLE; NULL: none. The log begins with the first call
void double_is_silent(void);              // fails the test where anything was logged

#endif
