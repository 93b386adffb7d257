#pragma once

/// Marks a symbol that libcohort.so exports; all others have hidden visibility.
#define COHORT_EXPORT __attribute__((visibility("default")))
