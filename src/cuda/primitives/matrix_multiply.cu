// matrix_multiply.cu: products by cuBLASLt, which only this file includes.
// The library is half a gigabyte and has no static version to link a part of; so it is not linked but opened for the
// first product: programs stay small, and start where it is missing.
// cuBLASLt is column-major: its result is right.count × left.count, and its bias epilogue adds one value per row of
// that. Where no algorithm supports the epilogue (double), the bias is written first and the product added.
#include "cuda/primitives/matrix_multiply.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/runtime/launch.cuh"
#include "kith/error.hpp"

#if defined(KITH_IS_EMULATED)
#include <numeric>
#include <random>
#else
#include <cublasLt.h>
#include <dlfcn.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#endif

namespace kith::KITH_BACKEND::inline primitives {

namespace {

template <class In>
std::string sizes_of(const MultiplyCall<In>& call) {
  return "of " + std::to_string(call.left.count) + " rows and " + std::to_string(call.right.count) + " rows of " +
         std::to_string(call.inner) + " coordinates";
}

template <class In>
void check_sizes(const MultiplyCall<In>& call) {
  struct Size {
    const char* name;
    std::int64_t value, least;
  };
  // The stride of a matrix without rows is not checked.
  const auto least_stride = [](std::int64_t rows, std::int64_t length) { return rows > 0 ? length : 0; };
  const Size sizes[] = {{"left rows", call.left.count, 0},
                        {"right rows", call.right.count, 0},
                        {"coordinates", call.inner, 1},
                        {"the left stride", call.left.stride, least_stride(call.left.count, call.inner)},
                        {"the right stride", call.right.stride, least_stride(call.right.count, call.inner)},
                        {"the result's stride", call.result_stride, least_stride(call.left.count, call.right.count)}};
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  for (const Size& size : sizes)
    if (size.value < size.least || size.value > kMost)
      throw Error(ErrorCode::invalid_argument, std::string("a matrix product has ") + std::to_string(size.value) +
                                                   " for " + size.name + ", which goes from " +
                                                   std::to_string(size.least) + " to " + std::to_string(kMost));
}

}  // namespace

#if defined(KITH_IS_EMULATED)

namespace {

// An input as the device multiplies it: tf32 drops its low bits.
template <class In>
double input(In value, bool tf32) {
  if constexpr (std::is_same_v<In, float>)
    if (tf32) return static_cast<double>(__uint_as_float(__float_as_uint(value) & 0xFFFFE000U));
  return static_cast<double>(value);
}

// Rounds towards zero, as tensor cores add.
float cut_to_float(double value) {
  const float nearest = static_cast<float>(value);
  return std::abs(static_cast<double>(nearest)) > std::abs(value) ? std::nextafter(nearest, 0.0F) : nearest;
}

template <class In, class Out>
Out add_product(Out sum, double x, double y) {
  if constexpr (std::is_same_v<In, double>) return sum + x * y;
  if constexpr (std::is_same_v<In, float>) return sum + static_cast<float>(x) * static_cast<float>(y);
  return static_cast<Out>(cut_to_float(static_cast<double>(sum) + x * y));
}

// A random order of the coordinates that changes with the sizes, since callers must not rely on any.
std::vector<std::int64_t> summing_order(std::int64_t inner, std::int64_t left, std::int64_t right) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(inner));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::mt19937_64 random(static_cast<std::uint64_t>(left * 1000003 + right));
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

template <class In>
struct HostProduct {
  using Out = typename MultiplyCall<In>::Out;

  MatrixRows<In> left, right;
  std::int64_t inner;
  Out alpha;
  const Out* bias;
  Out* result;
  std::int64_t result_stride;
  bool tf32;

  void operator()() const {
    const auto order = summing_order(inner, left.count, right.count);
    const std::vector<double> x = inputs(left, order);
    const std::vector<double> y = inputs(right, order);
    for (std::int64_t i = 0; i < left.count; ++i)
      for (std::int64_t j = 0; j < right.count; ++j) {
        const Out product = alpha * dot(x.data() + i * inner, y.data() + j * inner);
        result[i * result_stride + j] = bias != nullptr ? bias[j] + product : product;
      }
  }

  std::vector<double> inputs(const MatrixRows<In>& rows, const std::vector<std::int64_t>& order) const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(rows.count * inner));
    for (std::int64_t i = 0; i < rows.count; ++i)
      for (const std::int64_t c : order) values.push_back(input(rows.data[i * rows.stride + c], tf32));
    return values;
  }

  Out dot(const double* x, const double* y) const {
    Out sum = 0;
    for (std::int64_t c = 0; c < inner; ++c) sum = add_product<In>(sum, x[c], y[c]);
    return sum;
  }
};

}  // namespace

bool can_multiply() {
  return true;
}

template <class In>
void multiply(const MultiplyCall<In>& call) {
  check_sizes(call);
  if (call.left.count == 0 || call.right.count == 0) return;
  const HostProduct<In> product{
      call.left, call.right,  call.inner,         static_cast<typename MultiplyCall<In>::Out>(call.alpha),
      call.bias, call.result, call.result_stride, call.tf32};
  check(::emulator::enqueue("multiply", product, call.workspace.stream()), "multiply");
}

#else

namespace {

constexpr std::size_t kMostWorkspace = 32U << 20U;

// The functions in use, under cuBLASLt's names without the prefix.
struct Library {
  decltype(&cublasLtCreate) Create;
  decltype(&cublasLtGetStatusString) GetStatusString;
  decltype(&cublasLtMatmul) Matmul;
  decltype(&cublasLtMatmulAlgoGetHeuristic) MatmulAlgoGetHeuristic;
  decltype(&cublasLtMatmulDescCreate) MatmulDescCreate;
  decltype(&cublasLtMatmulDescDestroy) MatmulDescDestroy;
  decltype(&cublasLtMatmulDescSetAttribute) MatmulDescSetAttribute;
  decltype(&cublasLtMatmulPreferenceCreate) MatmulPreferenceCreate;
  decltype(&cublasLtMatmulPreferenceDestroy) MatmulPreferenceDestroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) MatmulPreferenceSetAttribute;
  decltype(&cublasLtMatrixLayoutCreate) MatrixLayoutCreate;
  decltype(&cublasLtMatrixLayoutDestroy) MatrixLayoutDestroy;
};

struct Opened {
  Library library{};
  std::string failure;  // the reason why it cannot be used, or empty
};

// Opens the version that this file was compiled against: from the system's search path, then from the toolkit's folder.
void* open_library(std::string& failure) {
  const std::string name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  for (const std::string& path : {name, std::string(KITH_CUDA_LIBRARY_DIR "/") + name}) {
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* text = dlerror();
    if (failure.empty()) failure = text != nullptr ? text : name;
  }
  return nullptr;
}

Opened open() {
  Opened opened;
  void* handle = open_library(opened.failure);
  if (handle == nullptr) return opened;
  opened.failure.clear();
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)> >(dlsym(handle, name));
    if (function == nullptr) opened.failure = std::string("there is no ") + name;
  };
#define KITH_FIND(name) find(opened.library.name, "cublasLt" #name)
  KITH_FIND(Create);
  KITH_FIND(GetStatusString);
  KITH_FIND(Matmul);
  KITH_FIND(MatmulAlgoGetHeuristic);
  KITH_FIND(MatmulDescCreate);
  KITH_FIND(MatmulDescDestroy);
  KITH_FIND(MatmulDescSetAttribute);
  KITH_FIND(MatmulPreferenceCreate);
  KITH_FIND(MatmulPreferenceDestroy);
  KITH_FIND(MatmulPreferenceSetAttribute);
  KITH_FIND(MatrixLayoutCreate);
  KITH_FIND(MatrixLayoutDestroy);
#undef KITH_FIND
  return opened;
}

const Opened& opened() {
  static const Opened once = open();
  return once;
}

const Library& library() {
  if (!opened().failure.empty())
    throw Error(ErrorCode::no_device, "matrix products need cuBLASLt, which cannot be used: " + opened().failure);
  return opened().library;
}

void check_cublas(cublasStatus_t status, const char* call, const std::string& sizes) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const auto code = status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorCode::out_of_memory : ErrorCode::internal;
  throw Error(code,
              std::string(library().GetStatusString(status)) + " from " + call + " for a matrix product " + sizes);
}

// The handle of a device, for all threads; never destroyed, since the driver may unload before static destructors run.
cublasLtHandle_t handle_of_device(int device, const std::string& sizes) {
  static std::mutex mutex;
  static auto& handles = *new std::map<int, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  const auto found = handles.find(device);
  if (found != handles.end()) return found->second;
  cublasLtHandle_t handle = nullptr;
  check_cublas(library().Create(&handle), "cublasLtCreate", sizes);
  handles.emplace(device, handle);
  return handle;
}

struct Destroy {
  void operator()(cublasLtMatmulDesc_t operation) const { library().MatmulDescDestroy(operation); }
  void operator()(cublasLtMatrixLayout_t layout) const { library().MatrixLayoutDestroy(layout); }
  void operator()(cublasLtMatmulPreference_t preference) const { library().MatmulPreferenceDestroy(preference); }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

template <class In>
constexpr cudaDataType_t data_type() {
  return std::is_same_v<In, Fp16> ? CUDA_R_16F : std::is_same_v<In, float> ? CUDA_R_32F : CUDA_R_64F;
}

template <class In>
cublasComputeType_t compute_type(const MultiplyCall<In>& call) {
  if (std::is_same_v<In, double>) return CUBLAS_COMPUTE_64F;
  return std::is_same_v<In, float> && call.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

// The alignment of an address in bytes, up to 256; no algorithm requires more.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 256U;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

// The call as cuBLASLt needs it; with `bias` its epilogue adds the bias.
template <class In>
class Product {
 public:
  using Out = typename MultiplyCall<In>::Out;

  Product(const MultiplyCall<In>& call, bool bias)
      : call_(call),
        bias_(bias),
        sizes_(sizes_of(call)),
        right_(layout(data_type<In>(), call.inner, call.right.count, call.right.stride)),
        left_(layout(data_type<In>(), call.inner, call.left.count, call.left.stride)),
        result_(layout(data_type<Out>(), call.right.count, call.left.count, call.result_stride)) {
    cublasLtMatmulDesc_t made = nullptr;
    check_cublas(library().MatmulDescCreate(&made, compute_type(call), data_type<Out>()), "cublasLtMatmulDescCreate",
                 sizes_);
    operation_.reset(made);
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(CUBLAS_OP_T));
    if (!bias) return;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(CUBLASLT_EPILOGUE_BIAS));
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(call.bias));
  }

  // Enqueues the product; returns false if no algorithm supports it.
  bool run() {
    KITH_CUDA(cudaGetDevice(&device_));
    const std::optional<cublasLtMatmulHeuristicResult_t> found = algorithm();
    if (!found) return false;
    void* workspace = nullptr;
    if (found->workspaceSize > 0) workspace = call_.workspace.template allocate<unsigned char>(found->workspaceSize);
    const Out alpha = static_cast<Out>(call_.alpha);
    const Out beta = adds_to_result() ? 1 : 0;
    check_cublas(library().Matmul(handle(), operation_.get(), &alpha, call_.right.data, right_.get(), call_.left.data,
                                  left_.get(), &beta, call_.result, result_.get(), call_.result, result_.get(),
                                  &found->algo, workspace, found->workspaceSize, call_.workspace.stream()),
                 "cublasLtMatmul", sizes_);
    return true;
  }

 private:
  // All inputs of the heuristic that chooses an algorithm.
  using Key = std::array<std::int64_t, 15>;

  bool adds_to_result() const { return call_.bias != nullptr && !bias_; }
  cublasLtHandle_t handle() const { return handle_of_device(device_, sizes_); }

  Owned<cublasLtMatrixLayout_t> layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                                       std::int64_t stride) const {
    cublasLtMatrixLayout_t made = nullptr;
    check_cublas(library().MatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(columns), stride),
                 "cublasLtMatrixLayoutCreate", sizes_);
    return Owned<cublasLtMatrixLayout_t>(made);
  }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check_cublas(library().MatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof(value)),
                 "cublasLtMatmulDescSetAttribute", sizes_);
  }

  std::uint64_t allowed_workspace() const {
    const Workspace& workspace = call_.workspace;
    if (workspace.budget() == 0) return kMostWorkspace;
    const std::size_t left = workspace.budget() - std::min(workspace.budget(), workspace.used());
    return std::min(kMostWorkspace, left);
  }

  Key key() const {
    return {device_,
            data_type<In>(),
            compute_type(call_),
            bias_              ? 1
            : adds_to_result() ? 2
                               : 0,
            call_.left.count,
            call_.right.count,
            call_.inner,
            call_.left.stride,
            call_.right.stride,
            call_.result_stride,
            alignment_of(call_.left.data),
            alignment_of(call_.right.data),
            alignment_of(call_.result),
            bias_ ? alignment_of(call_.bias) : 0,
            static_cast<std::int64_t>(allowed_workspace())};
  }

  // The heuristic takes longer than a small product, and a search repeats the same call, so results are cached.
  std::optional<cublasLtMatmulHeuristicResult_t> algorithm() const {
    constexpr std::size_t kMaxCached = 512;
    static std::mutex mutex;
    static auto& cached = *new std::map<Key, std::optional<cublasLtMatmulHeuristicResult_t> >;
    const Key wanted = key();
    {
      const std::lock_guard lock(mutex);
      const auto found = cached.find(wanted);
      if (found != cached.end()) return found->second;
    }
    const auto answer = run_heuristic();
    const std::lock_guard lock(mutex);
    if (cached.size() >= kMaxCached) cached.clear();
    cached.emplace(wanted, answer);
    return answer;
  }

  std::optional<cublasLtMatmulHeuristicResult_t> run_heuristic() const {
    const auto preference = preferences();
    cublasLtMatmulHeuristicResult_t answer{};
    int count = 0;
    const cublasStatus_t status =
        library().MatmulAlgoGetHeuristic(handle(), operation_.get(), right_.get(), left_.get(), result_.get(),
                                         result_.get(), preference.get(), 1, &answer, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
    check_cublas(status, "cublasLtMatmulAlgoGetHeuristic", sizes_);
    if (count == 0 || answer.state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
    return answer;
  }

  Owned<cublasLtMatmulPreference_t> preferences() const {
    cublasLtMatmulPreference_t made = nullptr;
    check_cublas(library().MatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate", sizes_);
    Owned<cublasLtMatmulPreference_t> preference(made);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      check_cublas(library().MatmulPreferenceSetAttribute(made, attribute, &value, sizeof(value)),
                   "cublasLtMatmulPreferenceSetAttribute", sizes_);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, allowed_workspace());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(call_.right.data));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(call_.left.data));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(call_.result));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(call_.result));
    return preference;
  }

  const MultiplyCall<In>& call_;
  bool bias_;
  std::string sizes_;
  int device_ = 0;
  Owned<cublasLtMatrixLayout_t> right_, left_, result_;
  Owned<cublasLtMatmulDesc_t> operation_;
};

constexpr unsigned kFillThreads = 256;
constexpr std::int64_t kFillBlocks = 1 << 16;

template <class Out>
__global__ void fill_rows_kernel(const Out* bias, std::int64_t rows, std::int64_t columns, Out* result,
                                 std::int64_t stride) {
  const std::int64_t pieces = ceil_div(columns, kFillThreads);
  for (std::int64_t i = blockIdx.x; i < rows * pieces; i += gridDim.x) {
    const std::int64_t column = i % pieces * kFillThreads + threadIdx.x;
    if (column < columns) result[i / pieces * stride + column] = bias[column];
  }
}

template <class In>
void fill_rows(const MultiplyCall<In>& call) {
  const std::int64_t pieces = call.left.count * ceil_div(call.right.count, kFillThreads);
  launch("fill_rows", fill_rows_kernel<typename MultiplyCall<In>::Out>,
         {.blocks = std::min(pieces, kFillBlocks), .threads = kFillThreads}, call.workspace.stream(), call.bias,
         call.left.count, call.right.count, call.result, call.result_stride);
}

}  // namespace

bool can_multiply() {
  return opened().failure.empty();
}

template <class In>
void multiply(const MultiplyCall<In>& call) {
  check_sizes(call);
  if (call.left.count == 0 || call.right.count == 0) return;
  const bool try_bias = call.bias != nullptr && !std::is_same_v<In, double>;
  if (try_bias && Product<In>(call, true).run()) return;
  if (call.bias != nullptr) fill_rows(call);
  if (!Product<In>(call, false).run())
    throw Error(ErrorCode::internal,
                "cublasLtMatmulAlgoGetHeuristic has no algorithm for a matrix product " + sizes_of(call));
}

#endif

template void multiply(const MultiplyCall<float>&);
template void multiply(const MultiplyCall<double>&);
template void multiply(const MultiplyCall<Fp16>&);

}  // namespace kith::KITH_BACKEND::inline primitives
