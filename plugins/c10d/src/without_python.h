#pragma once

#include <Python.h>

namespace cohort::c10d_plugin {

/// While one lives this thread does not hold Python's lock, if it did: for waits that other threads may end
/// only when they get it.
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
