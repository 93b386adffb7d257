#pragma once

#include <Python.h>

namespace cohort::c10d_plugin {

/// Releases Python's GIL in a scope, if this thread holds it: for waits that end only once another thread has
/// got the GIL.
///
/// Threads: one; created and destroyed on the same thread.
class WithoutPython {
 public:
  WithoutPython()
      : state_(Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  ~WithoutPython() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  WithoutPython(const WithoutPython&) = delete;
  WithoutPython& operator=(const WithoutPython&) = delete;

 private:
  PyThreadState* const state_;
};

}  // namespace cohort::c10d_plugin
