// Opens a plugin, has it search, closes it, again and again: the library's threads must not run code that is gone.
#include <cstdint>
#include <cstdio>

#include <dlfcn.h>
#include <unistd.h>

int main(int count, char** arguments) {
  for (int turn = 0; turn < 20 && count == 2; ++turn) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    const auto search = reinterpret_cast<std::int64_t (*)()>(dlsym(plugin, "search_in_plugin"));
    if (search == nullptr || search() != 1875 || dlclose(plugin) != 0) return 1;
    usleep(2000);  // threads that wake meanwhile find their code
  }
  return count == 2 ? 0 : 2;
}
