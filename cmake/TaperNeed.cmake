# SPDX-License-Identifier: BSD-2-Clause
# taper_need(PACKAGE DEBIAN FEDORA BREW WITHOUT): calls find_package. If the package is missing, the error names the package of each
# system that has the header, and the option that builds without the library. taper_need is a macro, because the package sets
# variables in the caller's scope.
macro(taper_need package debian fedora brew without)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
        message(FATAL_ERROR "${package} is missing: its header or its library is not found. Install ${debian} (Debian, Ubuntu), "
                            "${fedora} (Fedora) or ${brew} (Homebrew), or pass ${without}")
    endif()
endmacro()
