list(APPEND TAPER_SOURCES
    src/frontend/bytecode.c
    src/frontend/bytecode_missing.c
    src/frontend/bytecode_rows.c
    src/frontend/needs.c
    src/frontend/upgrade.c
)
