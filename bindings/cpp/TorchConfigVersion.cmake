# SPDX-License-Identifier: BSD-2-Clause
# The interface is PyTorch 1.13's, with the spellings of PyTorch 2, so a project may request any version 1 or 2.
set(PACKAGE_VERSION "1.13.1")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION VERSION_LESS 3)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
    if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
        set(PACKAGE_VERSION "${PACKAGE_FIND_VERSION}")
    endif()
    if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
