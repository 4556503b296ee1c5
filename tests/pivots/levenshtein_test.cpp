// Bit-parallel edit distances beside the table of the definition, and UTF-8.
#include <gtest/gtest.h>

#include <numeric>

#include "brute.hpp"
#include "kith/error.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

std::int64_t by_table(std::u32string_view a, std::u32string_view b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::int64_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void expect_right(const EditText& a, const EditText& b) {
  const std::int64_t want = by_table(a.symbols(), b.symbols());
  ASSERT_EQ(levenshtein(a, b), want) << a.size() << " × " << b.size();
  for (const std::int64_t bound : {std::int64_t{-1}, std::int64_t{0}, want / 2, want - 1, want, want + 1, want + 100}) {
    const std::int64_t found = levenshtein(a, b, bound);
    if (want <= bound) {
      ASSERT_EQ(found, want) << "bound " << bound;
    } else {
      ASSERT_GT(found, bound) << "of " << want;
    }
  }
  double lower = -1;
  levenshtein_lower_bounds(a, std::span<const EditText>(&b, 1), &lower);
  ASSERT_LE(lower, static_cast<double>(want));
  ASSERT_GE(lower, static_cast<double>(std::abs(a.size() - b.size())));
}

// Changed here and there, so that they are alike.
std::string changed(std::string text, Random& random, std::int64_t changes, std::int64_t letters) {
  for (; changes > 0; --changes) {
    const auto at = static_cast<std::size_t>(random.below(std::ssize(text) + 1));
    if (random.below(2) == 0 || at == text.size()) {
      text.insert(at, random_string(random, 1, letters));
    } else {
      text.erase(at, static_cast<std::size_t>(random.below(2) + 1));
    }
  }
  return text;
}

TEST(LevenshteinDistance, EveryLengthTo300) {
  Random random(1);
  for (std::int64_t size = 0; size <= 300; ++size) {
    const std::string text = random_string(random, size, 4);
    expect_right(EditText::of_bytes(text), EditText::of_bytes(random_string(random, random.below(301), 4)));
    expect_right(EditText::of_bytes(text), EditText::of_bytes(changed(text, random, 1 + size / 8, 4)));
  }
}

TEST(LevenshteinDistance, AroundWords) {
  Random random(2);
  for (const std::int64_t size : {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193})
    for (const std::int64_t other : {1, 62, 63, 64, 65, 66, 128, 129, 200}) {
      // No common symbols at the ends, which would be left out.
      const auto wrapped = [&](std::int64_t length, char end) {
        std::string text = random_string(random, length, 2);
        text.front() = text.back() = end;
        return EditText::of_bytes(text);
      };
      expect_right(wrapped(size, 'x'), wrapped(other, 'y'));
    }
}

TEST(LevenshteinDistance, SymbolsBeyondBytes) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const auto text = [&](std::int64_t size) {
      std::string utf8;
      const char* const characters[] = {"a", "é", "ß", "日", "本", "語", "🙂", "🙃", "\xC4\x81", "z"};
      for (std::int64_t i = 0; i < size; ++i) utf8 += characters[random.below(10)];
      return EditText::of_utf8(utf8);
    };
    expect_right(text(random.below(150)), text(random.below(150)));
  }
}

TEST(LevenshteinDistance, ManyEqualSymbols) {
  // More than 255 of one, which counts of bytes cannot hold.
  const std::string many(700, 'a');
  expect_right(EditText::of_bytes(many), EditText::of_bytes(many.substr(0, 300)));
  expect_right(EditText::of_bytes(many), EditText::of_bytes(std::string(700, 'b')));
  expect_right(EditText::of_bytes(many + "b"), EditText::of_bytes("b" + many));
}

TEST(LevenshteinDistance, KnownOnes) {
  EXPECT_EQ(levenshtein("kitten", "sitting"), 3);
  EXPECT_EQ(levenshtein("", ""), 0);
  EXPECT_EQ(levenshtein("", "abc"), 3);
  EXPECT_EQ(levenshtein("naïve", "naive"), 1);  // one code point, two bytes
  EXPECT_EQ(levenshtein(EditText::of_bytes("naïve"), EditText::of_bytes("naive")), 2);
  EXPECT_EQ(levenshtein("日本語", "日本"), 1);
}

TEST(Utf8, EveryCodePointIsRead) {
  for (char32_t symbol = 1; symbol <= 0x10FFFF; symbol += symbol < 0x3000 || symbol > 0x10FFF0 ? 1 : 97) {
    if (symbol >= 0xD800 && symbol <= 0xDFFF) continue;
    std::string utf8;
    const auto put = [&](char32_t byte) { utf8.push_back(static_cast<char>(byte)); };
    if (symbol < 0x80) {
      put(symbol);
    } else if (symbol < 0x800) {
      put(0xC0 | symbol >> 6);
      put(0x80 | (symbol & 0x3F));
    } else if (symbol < 0x10000) {
      put(0xE0 | symbol >> 12);
      put(0x80 | (symbol >> 6 & 0x3F));
      put(0x80 | (symbol & 0x3F));
    } else {
      put(0xF0 | symbol >> 18);
      put(0x80 | (symbol >> 12 & 0x3F));
      put(0x80 | (symbol >> 6 & 0x3F));
      put(0x80 | (symbol & 0x3F));
    }
    const EditText text = EditText::of_utf8("x" + utf8 + "y");
    ASSERT_EQ(text.size(), 3) << static_cast<std::uint32_t>(symbol);
    ASSERT_EQ(text.symbols()[1], symbol);
  }
}

TEST(Utf8, MistakesAreNamed) {
  const auto refuses = [](const std::string& text, const std::string& where) {
    return fails_with(ErrorCode::bad_data, {where, "UTF-8"}, [&] { EditText::of_utf8(text); });
  };
  EXPECT_TRUE(refuses("abc\xFF", "byte 3 of the text (0xff)"));
  EXPECT_TRUE(refuses("\x80", "byte 0 of the text (0x80)"));
  EXPECT_TRUE(refuses("a\xC3(", "byte 2 of the text (0x28)"));
  EXPECT_TRUE(refuses("a\xE2\x82", "byte 1 of the text (0xe2)"));         // ends too early
  EXPECT_TRUE(refuses("\xC0\xAF", "byte 0 of the text (0xc0)"));          // longer than it is
  EXPECT_TRUE(refuses("\xE0\x80\xAF", "byte 0 of the text (0xe0)"));      // likewise
  EXPECT_TRUE(refuses("\xF0\x80\x80\xAF", "byte 0 of the text (0xf0)"));  // likewise
  EXPECT_TRUE(refuses("ok\xED\xA0\x80", "byte 2 of the text (0xed)"));    // a surrogate
  EXPECT_TRUE(refuses("\xF4\x90\x80\x80", "byte 0 of the text (0xf4)"));  // beyond the last code point
  EXPECT_TRUE(refuses("\xF5\x80\x80\x80", "byte 0 of the text (0xf5)"));
  EXPECT_EQ(EditText::of_bytes("abc\xFF").size(), 4);
}

}  // namespace
}  // namespace kith::test
