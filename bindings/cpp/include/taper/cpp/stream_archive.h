/* SPDX-License-Identifier: BSD-2-Clause */
// caffe2::serialize: archives read and written record by record, and adapters that provide their bytes.
#ifndef TAPER_CPP_STREAM_ARCHIVE_H
#define TAPER_CPP_STREAM_ARCHIVE_H

#include <fstream>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include <taper/cpp/archive.h>
#include <taper/cpp/model_source.h>
#include <taper/cpp/storage.h>

namespace caffe2
{
namespace serialize
{

class IStreamAdapter : public ReadAdapterInterface
{
  public:
    explicit IStreamAdapter(std::istream *stream) : stream_(stream)
    {
    }
    size_t size() const override
    {
        const auto before = stream_->tellg();
        stream_->seekg(0, std::ios::end);
        const auto end = stream_->tellg();
        stream_->seekg(before);
        if (end < 0) {
            throw c10::Error("the size of the stream is not known");
        }
        return static_cast<size_t>(end);
    }
    size_t read(uint64_t pos, void *buffer, size_t n, const char * = "") const override
    {
        stream_->clear();
        stream_->seekg(static_cast<std::streamoff>(pos));
        stream_->read(static_cast<char *>(buffer), static_cast<std::streamsize>(n));
        return static_cast<size_t>(stream_->gcount());
    }

  private:
    std::istream *stream_; // stream of the caller, which must outlive the adapter
};

class FileAdapter : public ReadAdapterInterface
{
  public:
    explicit FileAdapter(const std::string &path) : in_(path, std::ios::binary), reader_(&in_)
    {
        if (!in_) {
            throw c10::Error("open file failed, file path: " + path);
        }
    }
    size_t size() const override
    {
        return reader_.size();
    }
    size_t read(uint64_t pos, void *buffer, size_t n, const char *what = "") const override
    {
        return reader_.read(pos, buffer, n, what);
    }

  private:
    std::ifstream in_;
    IStreamAdapter reader_;
};

class MemoryReadAdapter : public ReadAdapterInterface
{
  public:
    // The bytes must stay valid as long as the adapter exists.
    MemoryReadAdapter(const void *data, int64_t size)
        : data_(static_cast<const char *>(data)), size_(static_cast<size_t>(size))
    {
    }
    size_t size() const override
    {
        return size_;
    }
    size_t read(uint64_t pos, void *buffer, size_t n, const char * = "") const override
    {
        const size_t left = pos < size_ ? size_ - static_cast<size_t>(pos) : 0, count = n < left ? n : left;
        if (count != 0) {
            std::memcpy(buffer, data_ + pos, count);
        }
        return count;
    }

  private:
    const char *data_;
    size_t size_;
};

class PyTorchStreamReader final
{
  public:
    explicit PyTorchStreamReader(const std::string &path) : PyTorchStreamReader(std::make_shared<FileAdapter>(path))
    {
    }
    explicit PyTorchStreamReader(std::istream *stream) : PyTorchStreamReader(std::make_shared<IStreamAdapter>(stream))
    {
    }
    explicit PyTorchStreamReader(const std::shared_ptr<ReadAdapterInterface> &adapter)
        : reader_(taper::cpp::ArchiveReader::open(bytes_of(*adapter)))
    {
    }
    // Returns the bytes of a record, which the reader owns, and their number.
    std::tuple<c10::DataPtr, size_t> getRecord(const std::string &name) const
    {
        const std::pair<const void *, size_t> bytes = reader_.bytes(index_of(name));
        return std::make_tuple(c10::DataPtr(const_cast<void *>(bytes.first), c10::Device(c10::kCPU)), bytes.second);
    }
    bool hasRecord(const std::string &name) const
    {
        return find(name) < reader_.size();
    }
    std::vector<std::string> getAllRecords() const
    {
        std::vector<std::string> all;
        for (size_t i = 0; i < reader_.size(); i++) {
            all.push_back(reader_.name(i));
        }
        return all;
    }
    uint64_t version() const
    {
        return std::stoull(reader_.record(index_of(hasRecord(".data/version") ? ".data/version" : "version")));
    }

  private:
    static std::shared_ptr<const std::string> bytes_of(const ReadAdapterInterface &adapter)
    {
        const std::shared_ptr<std::string> bytes = std::make_shared<std::string>(adapter.size(), '\0');
        if (!bytes->empty() && adapter.read(0, &(*bytes)[0], bytes->size(), "archive") != bytes->size()) {
            throw c10::Error("the archive could not be read");
        }
        return bytes;
    }
    size_t find(const std::string &name) const
    {
        size_t i = 0;
        while (i < reader_.size() && reader_.name(i) != name) {
            i++;
        }
        return i;
    }
    size_t index_of(const std::string &name) const
    {
        const size_t i = find(name);
        if (i == reader_.size()) {
            throw c10::Error("PytorchStreamReader failed locating file " + name + ": file not found");
        }
        return i;
    }
    taper::cpp::ArchiveReader reader_;
};

class PyTorchStreamWriter final
{
  public:
    explicit PyTorchStreamWriter(const std::string &path)
        : file_(new taper::cpp::OutputFile(path)), name_(taper::cpp::archive_folder(path)),
          writer_(name_, taper::cpp::stream_sink(file_->stream()))
    {
    }
    explicit PyTorchStreamWriter(const std::function<size_t(const void *, size_t)> &function)
        : function_(new std::function<size_t(const void *, size_t)>(function)), name_("archive"),
          writer_(name_, {call, function_.get()})
    {
    }
    ~PyTorchStreamWriter()
    {
        if (!is_finished_) {
            try {
                writeEndOfFile();
            } catch (const std::exception &) { // a destructor must not throw, so the file stays incomplete
            }
        }
    }
    // Sets the lowest version that the file may have. PyTorch reads versions from 3 on.
    void setMinVersion(const uint64_t version)
    {
        version_ = version > version_ ? version : version_;
    }
    void writeRecord(const std::string &name, const void *data, size_t size, bool = false)
    {
        writer_.record(name, data, size);
        names_.insert(name);
    }
    void writeEndOfFile()
    {
        is_finished_ = true;
        writer_.record(version_ < 6 ? "version" : ".data/version", std::to_string(version_) + "\n");
        writer_.finish();
        if (file_) {
            file_->finish();
        }
    }
    const std::unordered_set<std::string> &getAllWrittenRecords()
    {
        return names_;
    }
    bool finalized() const
    {
        return is_finished_;
    }
    const std::string &archiveName()
    {
        return name_;
    }

  private:
    static int call(void *user, const void *data, size_t size) noexcept
    {
        try {
            return (*static_cast<std::function<size_t(const void *, size_t)> *>(user))(data, size) == size ? 0 : 1;
        } catch (...) {
            return 1;
        }
    }
    std::unique_ptr<taper::cpp::OutputFile> file_;
    std::unique_ptr<std::function<size_t(const void *, size_t)>> function_;
    std::string name_;
    taper::cpp::ArchiveWriter writer_;
    std::unordered_set<std::string> names_;
    uint64_t version_ = 3;
    bool is_finished_ = false;
};

} // namespace serialize
} // namespace caffe2

namespace torch
{
namespace jit
{
using caffe2::serialize::FileAdapter;
using caffe2::serialize::IStreamAdapter;
using caffe2::serialize::ReadAdapterInterface;
constexpr const char *kArchiveNameBytecode = "bytecode";
constexpr const char *kArchiveNameConstants = "constants";
constexpr const char *kArchiveNameVersion = "version";
} // namespace jit
} // namespace torch

#endif
