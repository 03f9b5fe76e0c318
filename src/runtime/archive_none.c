// SPDX-License-Identifier: BSD-2-Clause
// Replaces the files of taper_archive.h in builds without drafts (TAPER_WITH_DRAFTS is off). Opening an archive and
// creating a writer fail with an error that says that this build has no drafts. The other functions therefore never get
// an archive or a writer.
#include <taper/taper_archive.h>

#include "base/arguments.h"

static TAPER_COLD taper_status no_archives(taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
               "this build of Taper does not read or write archives of values: build with -DTAPER_WITH_DRAFTS=ON");
}

taper_status taper_archive_reader_open(taper_context *context, const char *path, taper_archive_reader **reader,
                                       taper_error *error)
{
    (void)context, (void)path;
    TAPER_NEED_OUT(reader, error);
    return no_archives(error);
}

taper_status taper_archive_reader_open_memory(taper_context *context, const void *bytes, size_t size,
                                              void (*release)(void *user), void *user, taper_archive_reader **reader,
                                              taper_error *error)
{
    (void)context, (void)bytes, (void)size, (void)release, (void)user;
    TAPER_NEED_OUT(reader, error);
    return no_archives(error);
}

taper_status taper_archive_reader_open_model(taper_model *model, taper_archive_reader **reader, taper_error *error)
{
    (void)model;
    TAPER_NEED_OUT(reader, error);
    return no_archives(error);
}

void taper_archive_reader_release(taper_archive_reader *reader)
{
    (void)reader;
}

size_t taper_archive_reader_count(const taper_archive_reader *reader)
{
    (void)reader;
    return 0;
}

const char *taper_archive_reader_name(const taper_archive_reader *reader, size_t index, size_t *length)
{
    (void)reader, (void)index, (void)length;
    return NULL;
}

taper_status taper_archive_reader_record(taper_archive_reader *reader, size_t index, const void **data, size_t *size,
                                         taper_error *error)
{
    (void)reader, (void)index, (void)data, (void)size;
    return no_archives(error);
}

taper_status taper_archive_reader_value(taper_archive_reader *reader, const char *name, taper_value **value,
                                        taper_error *error)
{
    (void)reader, (void)name;
    TAPER_NEED_OUT(value, error);
    return no_archives(error);
}

taper_status taper_archive_writer_create(taper_context *context, const char *folder, taper_save_function write,
                                         void *user, taper_archive_writer **writer, taper_error *error)
{
    (void)context, (void)folder, (void)write, (void)user;
    TAPER_NEED_OUT(writer, error);
    return no_archives(error);
}

void taper_archive_writer_release(taper_archive_writer *writer)
{
    (void)writer;
}

taper_status taper_archive_writer_record(taper_archive_writer *writer, const char *name, const void *data, size_t size,
                                         taper_error *error)
{
    (void)writer, (void)name, (void)data, (void)size;
    return no_archives(error);
}

taper_status taper_archive_writer_value(taper_archive_writer *writer, const char *name, const taper_value *value,
                                        taper_error *error)
{
    (void)writer, (void)name, (void)value;
    return no_archives(error);
}

taper_status taper_archive_writer_session(taper_archive_writer *writer, const char *name, taper_session *session,
                                          const char *path, taper_error *error)
{
    (void)writer, (void)name, (void)session, (void)path;
    return no_archives(error);
}

taper_status taper_archive_writer_finish(taper_archive_writer *writer, taper_error *error)
{
    (void)writer;
    return no_archives(error);
}

taper_status taper_value_pickle(taper_context *context, const taper_value *value, taper_save_function write, void *user,
                                taper_error *error)
{
    (void)context, (void)value, (void)write, (void)user;
    return no_archives(error);
}

taper_status taper_value_unpickle(taper_context *context, const void *bytes, size_t size, taper_value **value,
                                  taper_error *error)
{
    (void)context, (void)bytes, (void)size;
    TAPER_NEED_OUT(value, error);
    return no_archives(error);
}

taper_status taper_value_object(taper_context *context, const char *class_name, const char *const *names,
                                taper_value *const *values, size_t count, taper_value **value, taper_error *error)
{
    (void)context, (void)class_name, (void)names, (void)values, (void)count;
    TAPER_NEED_OUT(value, error);
    return no_archives(error);
}

taper_status taper_session_set_attribute(taper_session *session, const char *path, const taper_value *value,
                                         taper_error *error)
{
    (void)session, (void)path, (void)value;
    return no_archives(error);
}

taper_status taper_session_copy(taper_session *session, taper_session **copy, taper_error *error)
{
    (void)session;
    TAPER_NEED_OUT(copy, error);
    return no_archives(error);
}
