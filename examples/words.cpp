// Words nearest to misspelled ones, by an edit distance; then numbers under a distance of one's own.
#include <kith/kith.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

// Hours on a clock: symmetric, with the triangle inequality, and whole numbers.
struct ClockDistance {
  double operator()(int a, int b) const {
    const int apart = std::abs(a - b) % 24;
    return std::min(apart, 24 - apart);
  }
};

int main() {
  const std::vector<std::string> words = {"accommodate", "borrow", "commodore", "receive",
                                          "relieve",     "sorrow", "tomorrow",  "weather"};
  try {
    std::vector<kith::EditText> texts;
    for (const std::string& word : words) texts.push_back(kith::EditText::of_utf8(word));
    const kith::PivotIndex<kith::EditText, kith::Levenshtein> index(texts, {}, kith::Levenshtein::properties());
    for (const char* const misspelled : {"acommodate", "tomorow", "wheather"}) {
      const std::vector<kith::EditText> queries = {kith::EditText::of_utf8(misspelled)};
      const kith::PivotNeighbors found = index.search(queries, 1);
      std::printf("%s: %s at %.0f\n", misspelled, words[static_cast<std::size_t>(found.ids[0])].c_str(),
                  found.distances[0]);
    }

    std::vector<int> hours;
    for (int i = 0; i < 1000; ++i) hours.push_back(i * 7 % 24);
    const kith::PivotIndex<int, ClockDistance> clock(hours, {}, {true, true, true});
    const kith::PivotNeighbors near = clock.search(std::vector<int>{23}, 3);
    std::printf("23 h: %d, %d, %d; less than half of the distances were computed: %s\n", hours[near.ids[0]],
                hours[near.ids[1]], hours[near.ids[2]], near.report.saved() > 0.5 ? "yes" : "no");
  } catch (const kith::Error& error) {
    std::fprintf(stderr, "%s: %s\n", kith::to_string(error.code()), error.what());
    return 1;
  }
}
