/* SPDX-License-Identifier: BSD-2-Clause */
// Archives of PyTorch, read and written through the C library (taper_archive.h).
#ifndef TAPER_CPP_ARCHIVE_H
#define TAPER_CPP_ARCHIVE_H

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/stat.h>
#endif

#include <taper/cpp/handle.h>
#include <taper/taper_archive.h>

namespace taper
{
namespace cpp
{

using ExtraFiles = std::unordered_map<std::string, std::string>;
using Sources = std::vector<std::pair<std::string, std::string>>; // names of TorchScript modules, and their texts

// Receives the bytes of a file. `write` returns 0 on success. It must not throw, because the library calls it from C.
struct ByteSink {
    taper_save_function write;
    void *user;
};

inline int append_to_string(void *user, const void *data, size_t size) noexcept
{
    try {
        static_cast<std::string *>(user)->append(static_cast<const char *>(data), size);
        return 0;
    } catch (...) {
        return 1;
    }
}
inline ByteSink string_sink(std::string &to)
{
    return {append_to_string, &to};
}
inline int write_to_stream(void *user, const void *data, size_t size) noexcept
{
    try {
        std::ostream &out = *static_cast<std::ostream *>(user);
        return out.write(static_cast<const char *>(data), static_cast<std::streamsize>(size)) ? 0 : 1;
    } catch (...) {
        return 1;
    }
}
inline ByteSink stream_sink(std::ostream &to)
{
    return {write_to_stream, &to};
}

// Returns the name of the folder in an archive: the name of the file without its folder and extension.
inline std::string archive_folder(const std::string &path)
{
    const size_t slash = path.find_last_of("/\\");
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string stem = name.substr(0, name.find_last_of('.'));
    return stem.empty() ? "archive" : stem;
}

// A file that is written. An existing regular file is replaced only when the new file is complete, because a loaded
// model may still use the bytes of the old file.
class OutputFile
{
  public:
    explicit OutputFile(const std::string &path) : path_(path), written_(replaces(path) ? path + ".partial" : path)
    {
        out_.open(written_, std::ios::binary);
        if (!out_) {
            const size_t slash = path.find_last_of("/\\");
            throw c10::Error(errno == ENOENT && slash != std::string::npos
                                 ? "Parent directory " + path.substr(0, slash) + " does not exist."
                                 : "the file " + path + " cannot be written");
        }
    }
    ~OutputFile()
    {
        if (out_.is_open() && written_ != path_) {
            out_.close();
            std::remove(written_.c_str());
        }
    }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    std::ostream &stream()
    {
        return out_;
    }
    void finish()
    {
        out_.close();
        if (!out_ || (written_ != path_ && std::rename(written_.c_str(), path_.c_str()) != 0)) {
            std::remove(written_.c_str());
            throw c10::Error("the file " + path_ + " could not be written");
        }
    }

  private:
    static bool replaces(const std::string &path)
    {
#ifdef S_ISREG
        struct stat found;
        return lstat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
#else
        (void)path;
        return false;
#endif
    }
    const std::string path_, written_;
    std::ofstream out_;
};

class ArchiveWriter
{
  public:
    ArchiveWriter(const std::string &folder, const ByteSink &sink) : writer_(nullptr)
    {
        ErrorScope error;
        error.check(taper_archive_writer_create(context(), folder.c_str(), sink.write, sink.user, &writer_, error));
    }
    ~ArchiveWriter()
    {
        taper_archive_writer_release(writer_);
    }
    ArchiveWriter(const ArchiveWriter &) = delete;
    ArchiveWriter &operator=(const ArchiveWriter &) = delete;

    void record(const std::string &name, const void *data, size_t size)
    {
        ErrorScope error;
        error.check(taper_archive_writer_record(writer_, name.c_str(), data, size, error));
    }
    void record(const std::string &name, const std::string &text)
    {
        record(name, text.data(), text.size());
    }
    void extra_files(const ExtraFiles &files)
    {
        for (const auto &each : files) {
            record("extra/" + each.first, each.second);
        }
    }
    void value(const std::string &name, const Handle &value)
    {
        ErrorScope error;
        error.check(taper_archive_writer_value(writer_, name.c_str(), value.get(), error));
    }
    void session(const std::string &name, taper_session *session, const std::string &path)
    {
        ErrorScope error;
        error.check(taper_archive_writer_session(writer_, name.c_str(), session, path.c_str(), error));
    }
    void finish()
    {
        ErrorScope error;
        error.check(taper_archive_writer_finish(writer_, error));
    }

  private:
    taper_archive_writer *writer_;
};

class ArchiveReader
{
  public:
    explicit ArchiveReader(taper_archive_reader *reader) : reader_(reader)
    {
    }
    ~ArchiveReader()
    {
        taper_archive_reader_release(reader_);
    }
    ArchiveReader(const ArchiveReader &) = delete;
    ArchiveReader &operator=(const ArchiveReader &) = delete;

    static taper_archive_reader *open(const std::string &path)
    {
        taper_archive_reader *reader = nullptr;
        ErrorScope error;
        error.check(taper_archive_reader_open(context(), path.c_str(), &reader, error));
        return reader;
    }
    // Opens an archive in memory. Keeps the bytes as long as the reader and its values exist.
    static taper_archive_reader *open(std::shared_ptr<const std::string> bytes)
    {
        using Owner = std::shared_ptr<const std::string>;
        std::unique_ptr<Owner> owner(new Owner(bytes));
        taper_archive_reader *reader = nullptr;
        ErrorScope error;
        error.check(taper_archive_reader_open_memory(
            context(), bytes->data(), bytes->size(), [](void *user) { delete static_cast<Owner *>(user); }, owner.get(),
            &reader, error));
        owner.release(); // the library owns `owner` from here on
        return reader;
    }

    size_t size() const
    {
        return taper_archive_reader_count(reader_);
    }
    std::string name(size_t index) const
    {
        size_t length = 0;
        const char *text = taper_archive_reader_name(reader_, index, &length);
        return text != nullptr ? std::string(text, length) : std::string();
    }
    // Returns the contents of a record, which the reader owns.
    std::pair<const void *, size_t> bytes(size_t index) const
    {
        const void *data = nullptr;
        size_t size = 0;
        ErrorScope error;
        error.check(taper_archive_reader_record(reader_, index, &data, &size, error));
        return {data, size};
    }
    std::string record(size_t index) const
    {
        const std::pair<const void *, size_t> all = bytes(index);
        return std::string(static_cast<const char *>(all.first), all.second);
    }
    Handle value(const std::string &name) const
    {
        taper_value *value = nullptr;
        ErrorScope error;
        error.check(taper_archive_reader_value(reader_, name.c_str(), &value, error));
        return Handle(value);
    }

  private:
    taper_archive_reader *reader_;
};

} // namespace cpp
} // namespace taper

#endif
