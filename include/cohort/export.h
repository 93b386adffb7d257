#pragma once

/// Marks what libcohort shows to its users; everything else stays hidden inside it.
#define COHORT_EXPORT __attribute__((visibility("default")))
