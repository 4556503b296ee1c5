#include "c/options.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/handles.hpp"

namespace kith::c {
namespace {

struct OptionsObject {
  mutable std::mutex mutex;  // several threads may set and read
  AllOptions options;
};

using OptionsTable = HandleTable<kith_options, OptionsObject>;

// Never destroyed, for threads may outlive static objects.
OptionsTable& options_table() {
  static OptionsTable& options = *new OptionsTable("kith_options");
  return options;
}

kith_status set(kith_options* options, const char* name, const OptionValue& value) noexcept {
  return call([&] {
    const auto object = options_table().get(options);
    const std::string_view known = need_text(name, "the name of the option");
    const std::lock_guard lock(object->mutex);
    set_option(object->options, known, value);
  });
}

}  // namespace

AllOptions all_options_of(const kith_options* options) {
  if (options == nullptr) return {};
  const auto object = options_table().get(options);
  const std::lock_guard lock(object->mutex);
  return object->options;
}

Options options_of(const kith_options* options) {
  return all_options_of(options);
}

}  // namespace kith::c

using namespace kith::c;

kith_status kith_options_create(kith_options** out) noexcept {
  return call([&] {
    need(out, "out");
    *out = options_table().add(std::make_shared<OptionsObject>());
  });
}

kith_status kith_options_destroy(kith_options* options) noexcept {
  return call([&] { options_table().remove(options); });
}

kith_status kith_options_set(kith_options* options, const char* name, const char* value) noexcept {
  if (value == nullptr) return fail(KITH_INVALID_ARGUMENT, "the value of the option is null");
  return set(options, name, std::string_view(value));
}

kith_status kith_options_set_int(kith_options* options, const char* name, int64_t value) noexcept {
  return set(options, name, value);
}

kith_status kith_options_set_double(kith_options* options, const char* name, double value) noexcept {
  return set(options, name, value);
}

kith_status kith_options_set_doubles(kith_options* options, const char* name, const double* values,
                                     int64_t count) noexcept {
  kith_status status = KITH_OK;
  std::span<const double> span;
  status = call([&] { span = span_of(values, count, "values"); });
  return status == KITH_OK ? set(options, name, span) : status;
}

kith_status kith_options_get(const kith_options* options, const char* name, char* buffer, size_t size,
                             size_t* length) noexcept {
  return call([&] {
    need(options, "options");
    write_text(option_text(all_options_of(options), need_text(name, "the name of the option")), buffer, size, length);
  });
}

kith_status kith_options_set_progress(kith_options* options, kith_progress callback, void* user) noexcept {
  return call([&] {
    const auto object = options_table().get(options);
    kith::ProgressCallback progress;
    if (callback != nullptr)
      progress = [callback, user](const kith::Progress& now) {
        return callback(now.done, now.total, user) == KITH_CONTINUE;
      };
    const std::lock_guard lock(object->mutex);
    object->options.progress = std::move(progress);
  });
}
