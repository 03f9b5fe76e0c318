# SPDX-License-Identifier: BSD-2-Clause
# Compiler and linker flags of the project's own code.

set(TAPER_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef)

# Constants of this project are enumerators, also in floating-point expressions; newer versions of clang warn about such
# expressions.
include(CheckCCompilerFlag)
check_c_compiler_flag(-ffile-prefix-map=/nowhere=. TAPER_KNOWS_PREFIX_MAP)
check_c_compiler_flag(-Wenum-float-conversion TAPER_KNOWS_ENUM_FLOAT)
if(TAPER_KNOWS_ENUM_FLOAT)
    list(APPEND TAPER_WARNINGS -Wno-enum-float-conversion)
endif()
if(CMAKE_C_COMPILER_ID MATCHES "Clang") # an assembler statement of a kernel is longer than the strings that C99 guarantees
    list(APPEND TAPER_WARNINGS -Wno-overlength-strings)
endif()

function(taper_compile_options target)
    target_compile_options(${target} PRIVATE ${TAPER_WARNINGS} -fno-strict-aliasing -fno-math-errno -fno-trapping-math -ffp-contract=off
                                             -ffunction-sections -fdata-sections)
    # C needs no unwind tables, which are a tenth of the library. On Android crash reports need these tables. The tables for debuggers
    # are kept on every system.
    if(TAPER_UNWIND AND CMAKE_SYSTEM_PROCESSOR MATCHES "^arm(v[4-8].*)?$")
        target_compile_options(${target} PRIVATE -funwind-tables) # writes the tables .ARM.exidx
    elseif(TAPER_UNWIND)
        target_compile_options(${target} PRIVATE -fno-asynchronous-unwind-tables -funwind-tables)
    elseif(CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$")
        target_compile_options(${target} PRIVATE -fno-asynchronous-unwind-tables -fno-unwind-tables)
    endif()
    # The output must not contain paths, so that builds in two folders are equal.
    if(TAPER_KNOWS_PREFIX_MAP AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        target_compile_options(${target} PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
    endif()
    # The code uses POSIX for files, clocks and threads, and no extensions. Files may be larger than memory.
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
    if(MINGW)
        # The macro selects a printf with C's formats for size_t and int64_t. Macros of MinGW's math.h convert double to
        # float.
        target_compile_definitions(${target} PRIVATE __USE_MINGW_ANSI_STDIO=1)
        if(target STREQUAL "taper_objects")
            target_compile_definitions(${target} PRIVATE "TAPER_API=__declspec(dllexport)")
        endif()
        # Windows aligns the stack to 16 bytes, but gcc (bug 54412) moves vectors of 32 and 64 bytes on the stack with instructions that
        # need a larger alignment. With this option the assembler replaces such instructions.
        target_compile_options(${target} PRIVATE -Wno-float-conversion -Wa,-muse-unaligned-vector-move)
    endif()
    if(EMSCRIPTEN)
        # Every current browser has 128-bit vectors. A browser without them would refuse the whole module, because it
        # contains kernels with vectors.
        target_compile_options(${target} PRIVATE -msimd128)
    elseif(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|i[3-6]86|x86)$")
        # Registers of the 387 have more bits than a double, so results would depend on which values the compiler stores
        # to memory.
        target_compile_options(${target} PRIVATE -msse2 -mfpmath=sse)
    endif()
    if(TAPER_OPTIMIZE STREQUAL "float" AND NOT target STREQUAL "taper_objects") # the files of taper_objects have their own flags
        target_compile_options(${target} PRIVATE -O0)
    endif()
    if(TAPER_WARNINGS_AS_ERRORS)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # gcc does not follow checks of a status across functions, so this warning has false positives.
        target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    endif()
    taper_sanitize(${target})
endfunction()

function(taper_sanitize target)
    if(TAPER_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${TAPER_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
        target_link_options(${target} PUBLIC -fsanitize=${TAPER_SANITIZE})
    endif()
endfunction()

function(taper_link_options target)
    taper_sanitize(${target})
    if(APPLE)
        target_link_options(${target} PRIVATE -Wl,-dead_strip)
    elseif(MINGW)
        # A DLL or a program of Taper may only need DLLs of the system.
        target_link_options(${target} PRIVATE -static -Wl,--gc-sections)
    else()
        target_link_options(${target} PRIVATE -Wl,--gc-sections)
        if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
            # Code and constants share a segment, without pages of padding between them, as with lld. With -z max-page-size=16384 the
            # padding would be four times as large as with pages of 4 KB. Calls inside the library do not use the table of addresses.
            target_link_options(${target} PRIVATE -Wl,-z,noseparate-code -Wl,-Bsymbolic-functions)
        endif()
        taper_link_small(${target})
        # The operator table consists of pointers. Packed relocations take a fiftieth of the space of normal relocations. Android reads packed
        # relocations only since API 30, and this library is for API 21.
        if(TAPER_FOR_ANDROID)
            # Calls inside the library do not use the table of addresses. Code and read-only data share a segment, because before
            # Android 10 unwinders refuse a library whose code has its own segment.
            target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions -Wl,--no-rosegment)
            return()
        endif()
        include(CheckCSourceCompiles)
        set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
        check_c_source_compiles("int main(void) { return 0; }" TAPER_HAS_RELR FAIL_REGEX "warning: [^\n]*pack-relative-relocs") # some linkers only warn that they do not know the option
        if(TAPER_HAS_RELR)
            target_link_options(${target} PRIVATE -Wl,-z,pack-relative-relocs)
        endif()
    endif()
endfunction()

# In builds for size with LLVM's linker, equal functions are merged unless their address is used, and the unwind tables of arm64
# shrink to a twentieth of their size (unwind_tables.py).
function(taper_link_small target)
    if(NOT (TAPER_LINKS_LLD AND CMAKE_BUILD_TYPE STREQUAL "MinSizeRel") OR TAPER_SANITIZE)
        return()
    endif()
    target_link_options(${target} PRIVATE -Wl,--icf=safe)
    if(TAPER_UNWIND AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(i[3-6]86|x86)$")
        # Pushing an argument moves the stack, and each move is a row of the unwind tables. Without this option, the rows would be
        # a fifteenth of the library.
        target_link_options(${target} PRIVATE -Wl,-mllvm,-no-x86-call-frame-opt)
    endif()
    find_program(TAPER_PYTHON python3 NO_CMAKE_FIND_ROOT_PATH DOC "Makes the unwind tables small; without it they are as the linker makes them")
    if(TAPER_UNWIND AND TAPER_PYTHON AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
        target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions) # the tables' addresses are relative to an exported function
        set(script ${PROJECT_SOURCE_DIR}/scripts/android/unwind_tables.py)
        set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK "${TAPER_PYTHON} ${script}")
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
    endif()
endfunction()

# Every exported symbol has the version of the interface, which the loader and Debian's dpkg-gensymbols need. The headers declare the
# exported symbols; everything else is hidden (tests/api/symbols_test.sh). Builds for size and for phones have no versions.
function(taper_version_symbols target version)
    if(APPLE OR WIN32 OR TAPER_FOR_ANDROID OR CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
        return()
    endif()
    set(script ${CMAKE_CURRENT_BINARY_DIR}/taper.map)
    set(TAPER_SYMBOL_VERSION ${version} PARENT_SCOPE)
    file(CONFIGURE OUTPUT ${script} CONTENT "${version} {\n    global: taper_*;\n    local: *;\n};\n")
    target_link_options(${target} PRIVATE -Wl,--version-script=${script})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()
