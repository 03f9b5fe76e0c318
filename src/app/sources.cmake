if(TAPER_WITH_APP OR TAPER_BUILD_TOOLS) # the command-line program uses these files
    list(APPEND TAPER_SOURCES
        src/app/app_values.c
        src/app/bundled.c
        src/app/picture.c
        src/app/picture_memory.c
        src/app/picture_resize.c
        src/app/scores.c
        src/app/scores_mask.c
        src/app/settings.c
    )
endif()
if((TAPER_WITH_APP OR TAPER_BUILD_TOOLS) AND
   (TAPER_WITH_DRAFTS OR TAPER_BUILD_TOOLS OR (TAPER_WITH_JNI AND TAPER_WITH_PASSES))) # the same condition as for src/runtime/inspect_place.c, whose functions this file calls
    list(APPEND TAPER_SOURCES src/app/advice.c)
else() # the bindings call the function of this file in every build
    list(APPEND TAPER_SOURCES src/app/advice_none.c)
endif()
