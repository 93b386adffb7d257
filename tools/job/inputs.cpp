#include "job/model_data.h"

#include "records/csv_columns.h"
#include "records/idx.h"
#include "records/pnm.h"
#include "records/record_file.h"
#include "tensor/scalar_type.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::job {
namespace {

using Shape = std::vector<std::int64_t>;

Error wrong_shape(const std::string& path, const Shape& shape, const ModelFacts& facts) {
  return Error(ErrorCode::kUsage,
               fmt::format("a sample of '{}' has the shape [{}], the model takes [{}]", path,
                           fmt::join(shape, ", "), fmt::join(facts.input_shape, ", ")))
      .with_remedy(shape.size() == 3
                       ? "Scale or crop the image to the size that the model was trained on, and "
                         "use PGM for grey, PPM for coloured images."
                       : "Give the same inputs as in the training data.");
}

// Samples of this shape, counted along the first dimension.
Shape with_count(std::int64_t count, const Shape& shape) {
  Shape whole{count};
  whole.insert(whole.end(), shape.begin(), shape.end());
  return whole;
}

Result<Inputs> image_inputs(const std::string& content, const std::string& path, const ModelFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(const records::PnmImage image, records::parse_pnm(content, path));
  const Shape shape{image.channels, image.height, image.width};
  if (shape != facts.input_shape) return wrong_shape(path, shape, facts);
  if (!facts.white) {
    return Error(ErrorCode::kUsage,
                 fmt::format("'{}' cannot be scaled: the model does not tell the number of a white pixel",
                             path))
        .with_remedy("Give the sample as IDX file, in the numbers of the training data.");
  }
  const std::vector<float> shares = image.shares();
  const at::Tensor share = at::tensor(shares, at::kDouble).view(with_count(1, shape));
  return Inputs{.raw = share * *facts.white, .header = {"image"}, .cells = {{path}}};
}

Result<Inputs> idx_inputs(std::string content, const std::string& path, const ModelFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(const records::Rows rows,
                          records::open_idx(records::bytes_in_memory(std::move(content), path)));
  Shape shape(rows.shape().begin(), rows.shape().end());
  if (shape.size() == 2) shape.insert(shape.begin(), 1);  // grey images have one channel
  if (shape != facts.input_shape) return wrong_shape(path, shape, facts);
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows.size()) * rows.row_bytes());
  COHORT_RETURN_IF_ERROR(rows.read(0, bytes));
  const at::Tensor numbers = at::from_blob(bytes.data(), with_count(count, shape),
                                           at::TensorOptions().dtype(scalar_type_of(rows.dtype())));
  Inputs inputs{.raw = numbers.to(at::kDouble, false, true), .header = {"sample"}, .cells = {}};
  if (rows.dtype() == DType::kU8 && facts.white) inputs.raw = inputs.raw * (*facts.white / 255);
  for (std::int64_t i = 0; i < count; ++i) inputs.cells.push_back({std::to_string(i)});
  return inputs;
}

Result<Inputs> csv_inputs(const std::string& content, const std::string& path, const ModelFacts& facts) {
  if (facts.input_shape.size() != 1) {
    return Error(ErrorCode::kUsage,
                 fmt::format("'{}' is none of the images that the model takes: PGM, PPM or IDX", path))
        .with_remedy("Convert the image, as with `magick image.png image.pgm`.");
  }
  const records::WantedColumns wanted{.names = facts.features,
                                      .count = static_cast<std::size_t>(facts.input_shape.front()),
                                      .target = facts.target};
  COHORT_ASSIGN_OR_RETURN(records::CsvColumns table, records::parse_csv_columns(content, path, wanted));
  const auto rows = static_cast<std::int64_t>(table.rows.size());
  return Inputs{.raw = at::tensor(table.numbers, at::kFloat).view({rows, facts.input_shape.front()}),
                .header = std::move(table.header),
                .cells = std::move(table.rows)};
}

bool is_idx(const std::string& content) {
  return content.size() >= 2 && content[0] == '\0' && content[1] == '\0';
}

}  // namespace

Result<Inputs> read_inputs(FileSystem& files, const std::string& path, const ModelFacts& facts) {
  COHORT_ASSIGN_OR_RETURN(std::string content, records::read_record_file(files, path));
  if (records::is_pnm(content)) return image_inputs(content, path, facts);
  if (is_idx(content)) return idx_inputs(std::move(content), path, facts);
  return csv_inputs(content, path, facts);
}

}  // namespace cohort::job
