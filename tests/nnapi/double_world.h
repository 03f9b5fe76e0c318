// SPDX-License-Identifier: BSD-2-Clause
// The emulation of Android's library that this process loads as "libneuralnetworks.so": its API level, its switches,
// and its log of misuse.
#ifndef TAPER_TESTS_DOUBLE_WORLD_H
#define TAPER_TESTS_DOUBLE_WORLD_H

int double_level(void); // returns the value of TAPER_TEST_NNAPI_LEVEL
// Sets TAPER_NNAPI_DOUBLE to these switches; NULL: no switches. The log begins with the first call.
void double_switch(const char *switches);
void double_is_silent(void); // fails the test if anything was logged

#endif
