// Linked into every program that is built with the address sanitizer.

// The leak check of clang 14 crashes when the thread-local memory of a library loaded at run time happens to
// begin 16 bytes after the start of a page: it misreads the bytes before as a header. Tests that load UCX hit
// this at random. Without the interception the leak check ignores that memory.
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options();  // NOLINT

const char* __asan_default_options() {  // NOLINT: the sanitizer's name
  return "intercept_tls_get_addr=0";
}

// UCX keeps some of its objects in thread-local memory, which the leak check therefore does not see: it took
// one of them for lost in 1 of some 1500 tests. What Cohort itself allocates is still checked.
extern "C" __attribute__((visibility("default"), used)) const char* __lsan_default_suppressions();  // NOLINT

const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libucs.so\n";
}
