/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Archives: PyTorch's zip files, read and written record by record, and the state of a session as values that can be
 * changed, copied and written. torch.save, torch.jit.save and C++'s torch::save write such files, and read what these
 * functions write. All of them are experimental. The conventions of taper.h hold here.
 *
 * An archive has records, which are named byte strings. A pickle NAME.pkl is a record that contains a value. The
 * elements of its tensors are in the records NAME/0, NAME/1 and so on. All reads are checked against the bounds of the
 * file, and no code of the file is executed.
 */
#ifndef TAPER_TAPER_ARCHIVE_H
#define TAPER_TAPER_ARCHIVE_H

#include <taper/taper_compile.h> /* for taper_save_function */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* An open archive. One thread at a time may use it. */
typedef struct taper_archive_reader taper_archive_reader;
/* Opens the archive at path; *reader is a new reference. TAPER_LOAD_COPY says what may happen to the file while the
 * reader or a value from it exists. The function fails with TAPER_ERROR_FILE if the file is not a zip archive. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_reader_open(taper_context *context,
                                                                                   const char *path,
                                                                                   taper_archive_reader **reader,
                                                                                   taper_error *error);
/* Opens an archive in memory. The bytes must stay valid and unchanged until Taper calls release(user). Taper calls it
 * when the reader and all values that use the bytes are released. If release is NULL, the program keeps the bytes valid
 * until then. If the function fails, Taper does not call release. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status
taper_archive_reader_open_memory(taper_context *context, const void *bytes, size_t size, void (*release)(void *user),
                                 void *user, taper_archive_reader **reader, taper_error *error);
/* Opens the archive that a model was loaded from. The function fails with TAPER_ERROR_UNSUPPORTED if the model was a
 * flatbuffer, which is not an archive. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_reader_open_model(taper_model *model,
                                                                                         taper_archive_reader **reader,
                                                                                         taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_archive_reader_release(taper_archive_reader *reader);
/* Returns the number of records. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_archive_reader_count(const taper_archive_reader *reader);
/* Returns the name of record `index` without the folder of the archive, "data.pkl" for example, and sets *length to its
 * bytes. No zero byte follows it. Returns NULL if there is no such record. The reader owns the text. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_archive_reader_name(const taper_archive_reader *reader, size_t index,
                                                                   size_t *length);
/* Gets the contents of record `index`, which the reader owns; no zero byte follows them. The function compares the
 * checksum of the record. Fails with TAPER_ERROR_ARGUMENT if there is no such record, and with TAPER_ERROR_FILE if the
 * record is damaged. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_reader_record(taper_archive_reader *reader,
                                                                                     size_t index, const void **data,
                                                                                     size_t *size, taper_error *error);
/* Reads the value of the pickle NAME.pkl; *value is a new reference. Objects get the attributes in the file, even if
 * their class has a __setstate__. Tensors share the file's bytes if the alignment allows it. The function fails with
 * TAPER_ERROR_FILE if the record is missing or damaged, or contains something other than values. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_reader_value(taper_archive_reader *reader,
                                                                                    const char *name,
                                                                                    taper_value **value,
                                                                                    taper_error *error);

/* ---- writing ---- */

/* An archive that is being written. One thread at a time may use it. A writer holds a reference to its context. */
typedef struct taper_archive_writer taper_archive_writer;
/* Begins an archive. Taper passes the bytes of the archive to the callback `write`, in order. folder is the name of its
 * folder; PyTorch uses the name of the file without its extension. NULL means "archive". The function fails with
 * TAPER_ERROR_ARGUMENT if folder cannot be the name of a folder. A failed call of this function or of the functions
 * that follow leaves an incomplete file; only taper_archive_writer_release may follow. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status
taper_archive_writer_create(taper_context *context, const char *folder, taper_save_function write, void *user,
                            taper_archive_writer **writer, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_archive_writer_release(taper_archive_writer *writer);
/* Writes a record. The program may use each name only once. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_writer_record(taper_archive_writer *writer,
                                                                                     const char *name, const void *data,
                                                                                     size_t size, taper_error *error);
/* Writes a value: the records NAME/0, NAME/1 and so on for the storages of its tensors, then NAME.pkl. Tensors that
 * share a storage share it in the file too. The function fails with TAPER_ERROR_UNSUPPORTED if the value contains
 * something that a file cannot contain, a value that contains itself for example. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_writer_value(taper_archive_writer *writer,
                                                                                    const char *name,
                                                                                    const taper_value *value,
                                                                                    taper_error *error);
/* Writes an attribute of a session, with its present contents, as taper_archive_writer_value does. path has the form
 * that taper_session_attribute accepts; "" is the root object. Objects whose class has a __setstate__ are written with
 * the state that the model's file has for them. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_writer_session(
    taper_archive_writer *writer, const char *name, taper_session *session, const char *path, taper_error *error);
/* Writes the directory. The file is complete after this call. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_archive_writer_finish(taper_archive_writer *writer,
                                                                                     taper_error *error);

/* ---- pickles without an archive ---- */

/* Writes a value as a pickle, as torch::jit::pickle does. The function fails with TAPER_ERROR_UNSUPPORTED if the value
 * contains a tensor, because a pickle cannot contain the elements of a tensor. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_pickle(taper_context *context,
                                                                            const taper_value *value,
                                                                            taper_save_function write, void *user,
                                                                            taper_error *error);
/* Reads a pickle of `size` bytes; *value is a new reference. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_unpickle(taper_context *context, const void *bytes,
                                                                              size_t size, taper_value **value,
                                                                              taper_error *error);
/* Makes an object of a class: "__torch__.Module" for example. It has `count` attributes with these names, which are
 * copied, and these values, to which it holds references. The object has no methods; it serves to write archives. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_object(taper_context *context,
                                                                            const char *class_name,
                                                                            const char *const *names,
                                                                            taper_value *const *values, size_t count,
                                                                            taper_value **value, taper_error *error);

/* ---- the state of a session ---- */

/* Sets an attribute of the root object. A path with dots names an attribute of an object below the root. The session
 * holds a reference to the value. If the object has no such attribute, it gets one. The type of the value is not
 * checked.
 * A model that was optimized has read its attributes while it was loaded, so that its runs may still use the former
 * value. To run with the new value, write the session to an archive (taper_archive_writer_session) and load the
 * archive.
 * The function fails with TAPER_ERROR_ARGUMENT if the path names no object. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_session_set_attribute(taper_session *session,
                                                                                     const char *path,
                                                                                     const taper_value *value,
                                                                                     taper_error *error);
/* Creates a session of the same model whose attributes are copies of the present attributes of `session`. It has the
 * default options, and its random numbers begin anew. The caller destroys it. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_session_copy(taper_session *session,
                                                                            taper_session **copy, taper_error *error);

#ifdef __cplusplus
}
#endif
#endif
