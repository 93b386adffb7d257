#include "hidden_functions.h"

#include "base/descriptor.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <span>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cohort::c10d_plugin {
namespace {

// A file mapped for reading; empty if it cannot be read.
class FileBytes {
 public:
  explicit FileBytes(const char* path) {
    const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
    struct stat facts {};
    if (::fstat(file.number(), &facts) != 0) return;
    const auto length = static_cast<std::size_t>(facts.st_size);
    void* const data = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (data != MAP_FAILED) bytes_ = {static_cast<const char*>(data), length};
  }
  ~FileBytes() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  // `count` records of type T at this offset; empty if the file ends before.
  template <class T>
  std::span<const T> records(std::uint64_t offset, std::uint64_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }

 private:
  std::span<const char> bytes_;
};

struct Symbols {
  std::span<const Elf64_Sym> symbols;
  std::span<const char> names;

  bool is_named(const Elf64_Sym& symbol, std::string_view name) const {
    if (symbol.st_name > names.size() || name.size() >= names.size() - symbol.st_name) return false;
    const char* const begin = names.data() + symbol.st_name;
    return std::memcmp(begin, name.data(), name.size()) == 0 && begin[name.size()] == '\0';
  }
};

Symbols symbols_of(const FileBytes& file) {
  const auto header = file.records<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto sections = file.records<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& names = sections[section.sh_link];
    return {.symbols = file.records<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym)),
            .names = file.records<char>(names.sh_offset, names.sh_size)};
  }
  return {};
}

}  // namespace

std::vector<void*> hidden_functions(const Function& exported, std::vector<std::string_view> names) {
  Dl_info library{};
  if (::dladdr(exported.address, &library) == 0) return {};
  const FileBytes file(library.dli_fname);
  const Symbols table = symbols_of(file);
  names.push_back(exported.name);
  std::vector<void*> found(names.size());
  for (const Elf64_Sym& symbol : table.symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0) continue;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!table.is_named(symbol, names[i])) continue;
      found[i] = static_cast<char*>(library.dli_fbase) + symbol.st_value;
    }
  }
  const bool is_loaded_file = found.back() == exported.address;
  found.pop_back();
  const bool has_all = std::find(found.begin(), found.end(), nullptr) == found.end();
  return is_loaded_file && has_all ? found : std::vector<void*>{};
}

}  // namespace cohort::c10d_plugin
