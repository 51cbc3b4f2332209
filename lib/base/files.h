#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace eflops {

/// Reads a whole file. DataError names the file and the system's reason.
std::string read_file(const std::filesystem::path& file);

/// Writes under a temporary name in the same folder, syncs, renames, syncs the folder: readers see the old file or the
/// whole new one. On any failure (disk full) the temporary is removed and DataError says why.
void write_file_atomically(const std::filesystem::path& file, std::string_view bytes);

/// A file that appears under its name only when commit() has synced and renamed it; destroyed before that, it leaves
/// nothing behind. Every short or failed write is DataError with the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& file);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Overwrites bytes written before (a header whose counts are known at the end).
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  void flush();

  std::filesystem::path file_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string buffer_;
};

/// Makes a folder's entries durable (fsync of the folder).
void sync_folder(const std::filesystem::path& folder);

/// Appends one line to a file with a single write(2), so that lines of several processes do not mix.
void append_line(const std::filesystem::path& file, std::string_view line);

/// A read-only memory map of a whole file; movable. DataError names the file and the reason.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A fresh folder under the system's temporary folder, removed with everything in it on destruction.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace eflops
