// Linked into every program that is built with the address sanitizer.

// The leak check of clang 14 takes thread-local memory of libraries that were loaded at run time for
// something else where it begins 16 bytes after a page does, follows what stands before it, and crashes: a
// matter of luck, for every test that loads UCX. It does without that memory.
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options();  // NOLINT

const char* __asan_default_options() {  // NOLINT: the sanitizer's name
  return "intercept_tls_get_addr=0";
}
