#pragma once

#include <string_view>
#include <vector>

namespace cohort::c10d_plugin {

/// The addresses of functions that a loaded library does not export, by the symbol table in its file. Mangled
/// names hold the types of all parameters, so a function that is found takes these parameters.
///
/// `exported` is a function that the library does export: the file must have it at the same place, or the
/// file is not the one that was loaded.
///
/// Failure: the list is empty if one of the names is missing, as in a stripped library.
/// Cost: looks at the names of all symbols, for libtorch_cpu up to 90 MB of its file.
struct Function {
  const void* address = nullptr;
  std::string_view name{};  ///< mangled
};
std::vector<void*> hidden_functions(const Function& exported, std::vector<std::string_view> names);

}  // namespace cohort::c10d_plugin
