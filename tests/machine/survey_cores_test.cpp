#include "machine/survey_cores.h"

#include "machine/given_files.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

constexpr const char* kAmd = R"(processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 1
model name	: AMD EPYC 7763 64-Core Processor
siblings	: 128
core id		: 0
cpu cores	: 64
flags		: fpu vme sse sse2 ssse3 fma cx16 sse4_2 avx f16c rdrand bmi1 avx2 smep bmi2 sha_ni vaes
bogomips	: 4890.85

processor	: 1
model name	: AMD EPYC 7763 64-Core Processor
flags		: fpu
)";

constexpr const char* kIntel = R"(processor	: 0
vendor_id	: GenuineIntel
model		: 143
model name	: Intel(R) Xeon(R) Platinum 8480+
siblings	: 56
cpu cores	: 56
flags		: fpu fma f16c avx2 avx512f avx512dq avx512_bf16 amx_bf16 avx512_fp16 amx_tile amx_int8
vmx flags	: vnmi preemption_timer
)";

constexpr const char* kArm = R"(processor	: 0
BogoMIPS	: 50.00
Features	: fp asimd evtstrm aes bf16 i8mm
CPU implementer	: 0x41
)";

using Names = std::vector<std::string>;

TEST(CpuInfo, TellsTheModel) {
  EXPECT_EQ(*parse_cpu_model(kAmd), "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(*parse_cpu_model(kIntel), "Intel(R) Xeon(R) Platinum 8480+");
  EXPECT_EQ(parse_cpu_model(kArm).error().code(), ErrorCode::kUnsupported);
}

TEST(CpuInfo, TellsTheInstructionSetsByWholeWords) {
  EXPECT_EQ(*parse_instruction_sets(kAmd), (Names{"avx2", "fma", "f16c"}));
  EXPECT_EQ(*parse_instruction_sets(kIntel),
            (Names{"avx2", "fma", "f16c", "avx512f", "avx512_bf16", "amx_bf16"}));
  EXPECT_EQ(*parse_instruction_sets("flags : fpu avx2x\n"), Names{});
  EXPECT_FALSE(parse_instruction_sets(kArm));
  EXPECT_FALSE(parse_instruction_sets(""));
}

TEST(CpuInfo, TellsTheThreadsPerCore) {
  EXPECT_EQ(*parse_threads_per_core(kAmd), 2);
  EXPECT_EQ(*parse_threads_per_core(kIntel), 1);
  for (const char* text : {"", "siblings : 4\n", "siblings : 4\ncpu cores : 0\n",
                           "siblings : 2\ncpu cores : 4\n", "siblings : four\ncpu cores : 4\n"})
    EXPECT_FALSE(parse_threads_per_core(text)) << text;
}

TEST(UsableCores, AreTheFewestOfOnlineAllowedAndPaidFor) {
  Cores cores{.online = 8, .allowed = 6, .quota = std::optional<double>()};
  EXPECT_EQ(usable(cores), 6);
  cores.online = 4;
  EXPECT_EQ(usable(cores), 4);
  cores.quota = std::optional(2.9);
  EXPECT_EQ(usable(cores), 2);
  cores.quota = std::optional(0.5);
  EXPECT_EQ(usable(cores), 1);
  cores.quota = std::optional(1e12);
  EXPECT_EQ(usable(cores), 4);
}

TEST(UsableCores, DoNotNeedEveryFact) {
  EXPECT_EQ(usable(Cores{}), std::nullopt);
  EXPECT_EQ(usable(Cores{.online = 8}), 8);
  EXPECT_EQ(usable(Cores{.allowed = 3}), 3);
}

TEST(SurveyCores, ReadsWhatThereIsAndKeepsTheReasonsForTheRest) {
  const Cores cores =
      survey_cores(given_files({{"/sys/devices/system/cpu/online", "0-127\n"}, {"/proc/cpuinfo", kAmd}}));
  EXPECT_EQ(*cores.online, 128);
  EXPECT_EQ(*cores.model, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(*cores.threads_per_core, 2);
  EXPECT_EQ(*cores.instruction_sets, (Names{"avx2", "fma", "f16c"}));
  EXPECT_EQ(*cores.quota, std::nullopt);
  EXPECT_GE(*cores.allowed, 1);
  EXPECT_EQ(cores.numa_nodes.error().text(), "there is no file '/sys/devices/system/node/online'");
}

}  // namespace
}  // namespace cohort::machine
