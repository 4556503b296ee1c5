#include "io/csv_read.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>

#include "files.hpp"
#include "io/numbers.hpp"

namespace kith::io {
namespace {

CsvTable parse(const std::string& text, const LoadOptions& options = {}) {
  return parse_csv(source_of(text), options);
}

std::vector<double> values(const std::string& text, const LoadOptions& options = {}) {
  return parse(text, options).array.values<double>();
}

Failure fail_csv(const std::string& text, const LoadOptions& options = {}) {
  return failure_of([&] { parse(text, options); });
}

LoadOptions columns(std::vector<std::string> names) {
  LoadOptions options;
  options.columns = std::move(names);
  return options;
}

const std::vector<double> kFour = {1, 2, 3, 4};

TEST(Csv, FindsTheDelimiter) {
  EXPECT_EQ(values("1,2\n3,4\n"), kFour);
  EXPECT_EQ(values("1;2\n3;4\n"), kFour);
  EXPECT_EQ(values("1\t2\n3\t4\n"), kFour);
  EXPECT_EQ(values("1 2\n3   4\n"), kFour);
  EXPECT_EQ(values("  1  2 \n3 \t 4"), kFour);
  EXPECT_EQ(values(" 1 , 2 \n3,\t4"), kFour);
  EXPECT_EQ(parse("1\n2\n3\n").array.cols(), 1);
}

TEST(Csv, SkipsMarkCommentsAndBlankLines) {
  EXPECT_EQ(values("\xEF\xBB\xBF# numbers\r\n\r\n1,2\r\n  \n # more\n3,4\r\n\n"), kFour);
}

TEST(Csv, ReadsQuotedFields) {
  EXPECT_EQ(values("\"1\",\"2\"\n\" 3 \" ,4\n"), kFour);
  EXPECT_EQ(values("\"1\" \"2\"\n3 \"4\"\n"), kFour);
  EXPECT_EQ(parse("\"a,b\";\"say \"\"c\"\"\"\n1;2\n").columns, (std::vector<std::string>{"a,b", "say \"c\""}));
}

TEST(Csv, ReadsNumbersOfAllKinds) {
  const auto read = values("+1.5,-2e3,.5,5.,nan,-inf,Infinity,1e-400,0x\n", [] {
    LoadOptions options = columns({"0", "1", "2", "3", "4", "5", "6", "7"});
    options.header = Header::absent;
    return options;
  }());
  ASSERT_EQ(read.size(), 8U);
  EXPECT_EQ(read[0], 1.5);
  EXPECT_EQ(read[1], -2000);
  EXPECT_EQ(read[2], 0.5);
  EXPECT_EQ(read[3], 5);
  EXPECT_TRUE(std::isnan(read[4]));
  EXPECT_EQ(read[5], -INFINITY);
  EXPECT_EQ(read[6], INFINITY);
  EXPECT_EQ(read[7], 0);
}

TEST(Csv, DetectsAHeader) {
  const CsvTable table = parse("x,y\n1,2\n3,4\n");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.array.values<double>(), kFour);
  EXPECT_TRUE(parse("1,2\n3,4\n").columns.empty());
  EXPECT_EQ(parse("x,y\n").array.rows(), 0);
}

TEST(Csv, AsksAboutAHeaderThatMayBeARow) {
  EXPECT_EQ(fail_csv("id,0,1\n7,8,9\n"),
            bad_data("test: line 1: the first row has numbers and 'id'; is it a header? Say so if it is"));
  LoadOptions options;
  options.header = Header::present;
  EXPECT_EQ(values("id,0,1\n7,8,9\n", options), (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(values("0,1,2\n7,8,9\n", options), (std::vector<double>{7, 8, 9}));
  options.header = Header::absent;
  EXPECT_EQ(fail_csv("x,y\n1,2\n", options), bad_data("test: line 1: field 1, 'x', is not a number"));
}

TEST(Csv, NamesTheLineThatIsWrong) {
  EXPECT_EQ(fail_csv(""), bad_data("test: the file has no rows"));
  EXPECT_EQ(fail_csv("# only\n\n"), bad_data("test: the file has no rows"));
  EXPECT_EQ(fail_csv("a,b\n# c\n1,2\n\n3,4,5\n"), bad_data("test: line 5: 3 fields but line 1 has 2"));
  EXPECT_EQ(fail_csv("1,2\n3\n"), bad_data("test: line 2: 1 field but line 1 has 2"));
  EXPECT_EQ(fail_csv("1,2\n3,\n"), bad_data("test: line 2: field 2 is empty"));
  EXPECT_EQ(fail_csv("1\t2\n\t4\n"), bad_data("test: line 2: field 1 is empty"));
  EXPECT_EQ(fail_csv("1,2\n3,four\n"), bad_data("test: line 2: field 2, 'four', is not a number"));
  EXPECT_EQ(fail_csv("1;2\n3,5;4\n"), bad_data("test: line 2: field 1, '3,5', is not a number"));
  EXPECT_EQ(fail_csv("1,2\n3,1e999\n"), bad_data("test: line 2: field 2, '1e999', exceeds the range of float64"));
  EXPECT_EQ(fail_csv("1,2\n3,\"4\n"), bad_data("test: line 2: a quoted field does not end"));
  EXPECT_EQ(fail_csv("1,2\n3,\"4\"5\n"), bad_data("test: line 2: text after a quoted field"));
  EXPECT_EQ(fail_csv(std::string("1,2\n3,\0\n", 8)), bad_data("test: line 2: field 2, '?', is not a number"));
  EXPECT_EQ(fail_csv("1,2\n3,+-4\n"), bad_data("test: line 2: field 2, '+-4', is not a number"));
}

TEST(Csv, TakesColumnsByNameOrNumber) {
  const std::string text = "a,b,1\n10,20,30\n40,50,60\n";
  LoadOptions options = columns({"1", "a"});
  options.header = Header::present;
  EXPECT_EQ(values(text, options), (std::vector<double>{30, 10, 60, 40}));  // a name goes before a number
  options.columns = {"c"};
  EXPECT_EQ(fail_csv(text, options), invalid_argument("test: no column is called 'c'; there are 3 columns"));
  EXPECT_EQ(values("1,word\n2,text\n",
                   [] {
                     LoadOptions absent = columns({"0"});
                     absent.header = Header::absent;
                     return absent;
                   }()),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(fail_csv("1,2\n", columns({"2"})),
            invalid_argument("test: no column is called '2'; there are 2 columns without a header"));
}

TEST(Csv, TakesAGroupOfColumnsAsAnArray) {
  const std::string text = "ids_0,ids_1,distances_0,distances_1,label\n1,2,0.5,0.75,9\n";
  LoadOptions options;
  options.array = "distances";
  EXPECT_EQ(values(text, options), (std::vector<double>{0.5, 0.75}));
  options.array = "label";
  EXPECT_EQ(parse(text, options).array.rank(), 1);
  options.array = "other";
  EXPECT_EQ(fail_csv(text, options), invalid_argument("test: no column is named 'other' or 'other_0'"));
}

TEST(Csv, DoesNotHearTheLocale) {
  const char* old = std::setlocale(LC_ALL, nullptr);
  const std::string restore = old == nullptr ? "C" : old;
  for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    EXPECT_EQ(values("1.5,2\n"), (std::vector<double>{1.5, 2})) << name;
    EXPECT_EQ(number_text(0.5), "0.5") << name;
  }
  std::setlocale(LC_ALL, restore.c_str());
}

TEST(Csv, AWideRowAndManyBlankLinesAskForLittleMemory) {
  std::string text(200000, '0');
  for (std::size_t i = 1; i < text.size(); i += 2) text[i] = ',';
  text.back() = '0';
  text += std::string(1000000, '\n');
  const Array array = parse(text).array;
  EXPECT_EQ(array.rows(), 1);
}

TEST(Csv, ReadsWhatNumpyWrote) {
  const FileInfo info = describe(fixture("savetxt.csv"));
  EXPECT_EQ(info.arrays.at(0).rows, 4);
  EXPECT_EQ(load(fixture("savetxt.csv")).values<std::int64_t>(), load(fixture("le_i8.npy")).values<std::int64_t>());
}

TEST(Csv, WritesArraysSideBySide) {
  const Folder folder;
  const Array ids = Array::from(std::vector<std::int64_t>{1, 2, 3, 4}, 2, 2);
  const Array distances = Array::from(std::vector<float>{0.1F, NAN}, 2, 1);
  const Array label = Array::from(std::vector<std::uint8_t>{7, 200});
  save(folder.file("a.csv"), {{"ids", ids}, {"the \"distances\"", distances}, {"label", label}});
  EXPECT_EQ(bytes_of(folder.file("a.csv")), "ids_0,ids_1,\"the \"\"distances\"\"_0\",label\n1,2,0.1,7\n3,4,nan,200\n");
  save(folder.file("b.csv"), ids);
  EXPECT_EQ(bytes_of(folder.file("b.csv")), "1,2\n3,4\n");
  EXPECT_EQ(failure_of([&] {
              save(folder.file("c.csv"), {{"a", ids}, {"b", Array::from(std::vector<float>{1})}});
            }),
            invalid_argument("csv puts arrays side by side, but 'a' has 2 rows and 'b' has 1"));
}

}  // namespace
}  // namespace kith::io
