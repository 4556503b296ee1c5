#include "cuda/pairs/nvrtc.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <type_traits>

#include "kith/error.hpp"

namespace kith::KITH_BACKEND::pairs {
namespace {

// What is used of nvrtc.h, whose interface has been the same since version 11.
using Program = struct NvrtcProgram*;
using Status = int;

struct Functions {
  const char* (*GetErrorString)(Status);
  Status (*CreateProgram)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                          const char* const* names);
  Status (*DestroyProgram)(Program*);
  Status (*CompileProgram)(Program, int options, const char* const*);
  Status (*GetProgramLogSize)(Program, std::size_t*);
  Status (*GetProgramLog)(Program, char*);
  Status (*GetCUBINSize)(Program, std::size_t*);
  Status (*GetCUBIN)(Program, char*);
};

struct Opened {
  Functions functions{};
  std::string obstacle;
};

void* open_library(std::string& obstacle) {
  std::string tried;
  for (const std::string name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    std::vector<std::string> paths{name};
#if defined(KITH_CUDA_LIBRARY_DIR)
    paths.push_back(std::string(KITH_CUDA_LIBRARY_DIR "/") + name);
#endif
    for (const std::string& path : paths) {
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      const char* text = dlerror();
      tried += (tried.empty() ? "" : "; ") + std::string(text != nullptr ? text : path.c_str());
    }
  }
  obstacle = "NVRTC (libnvrtc.so.13 or libnvrtc.so.12) cannot be opened: " + tried;
  return nullptr;
}

Opened open() {
  Opened opened;
  void* handle = open_library(opened.obstacle);
  if (handle == nullptr) return opened;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr) opened.obstacle = std::string("NVRTC has no function ") + name;
  };
#define KITH_FIND(name) find(opened.functions.name, "nvrtc" #name)
  KITH_FIND(GetErrorString);
  KITH_FIND(CreateProgram);
  KITH_FIND(DestroyProgram);
  KITH_FIND(CompileProgram);
  KITH_FIND(GetProgramLogSize);
  KITH_FIND(GetProgramLog);
  KITH_FIND(GetCUBINSize);
  KITH_FIND(GetCUBIN);
#undef KITH_FIND
  return opened;
}

const Opened& opened() {
  static const Opened once = open();
  return once;
}

class Compilation {
 public:
  explicit Compilation(const std::string& source) : functions_(opened().functions) {
    check(functions_.CreateProgram(&program_, source.c_str(), "formula.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() { functions_.DestroyProgram(&program_); }

  std::vector<char> compile(int capability, std::string* resources) {
    constexpr Status kInvalidOption = 5;
    const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
    std::vector<const char*> options = {architecture.c_str(), "--std=c++17",      "--fmad=false",
                                        "--prec-div=true",    "--prec-sqrt=true", "--ftz=false"};
    if (resources != nullptr) options.push_back("--ptxas-options=--verbose");
    const Status status = functions_.CompileProgram(program_, static_cast<int>(options.size()), options.data());
    if (status == kInvalidOption)
      throw Error(ErrorCode::no_device, "NVRTC cannot compile for " + architecture.substr(19) + ": " + log());
    if (status != 0)
      throw Error(ErrorCode::internal,
                  std::string("NVRTC: ") + functions_.GetErrorString(status) + ": " + log().substr(0, 2000));
    std::size_t bytes = 0;
    check(functions_.GetCUBINSize(program_, &bytes), "nvrtcGetCUBINSize");
    std::vector<char> code(bytes);
    check(functions_.GetCUBIN(program_, code.data()), "nvrtcGetCUBIN");
    if (resources != nullptr) *resources = log();
    return code;
  }

 private:
  void check(Status status, const char* call) const {
    if (status != 0) throw Error(ErrorCode::internal, std::string(call) + ": " + functions_.GetErrorString(status));
  }

  std::string log() const {
    std::size_t bytes = 0;
    if (functions_.GetProgramLogSize(program_, &bytes) != 0 || bytes == 0) return "";
    std::string text(bytes, '\0');
    if (functions_.GetProgramLog(program_, text.data()) != 0) return "";
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  const Functions& functions_;
  Program program_ = nullptr;
};

}  // namespace

const std::string& nvrtc_obstacle() {
  return opened().obstacle;
}

std::vector<char> compile_program(const std::string& source, int capability, std::string* resources) {
  if (!nvrtc_obstacle().empty())
    throw Error(ErrorCode::no_device, "formulas are compiled for a device when they are used: " + nvrtc_obstacle());
  return Compilation(source).compile(capability, resources);
}

}  // namespace kith::KITH_BACKEND::pairs
