#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# emulator.sh PROGRAM [ARGUMENTS]: runs a program of a build for another system with the emulator in TAPER_EMULATOR, or without one if the
# variable is empty. Builds name this script as their emulator, so the tests of one build can run as several processors.
# shellcheck disable=SC2086
exec ${TAPER_EMULATOR:-} "$@"
